import { ActionIcon, Anchor, Badge, Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconPlus, IconUsersGroup } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, client } from "../api/client";
import { useSession } from "../api/session";
import { Confirm } from "../settings/Confirm";
import { ListSkeleton } from "../settings/ListTable";
import { EmptyState } from "../ui/EmptyState";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { say, sayProblem } from "../ui/say";
import { type Editing, TeamDialog } from "./TeamDialog";
import { selects, type Team } from "./teamForm";

/** useTeamsChanged forgets what follows from teams. */
export function useTeamsChanged() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries();
}

/** TeamsPage is who owns which servers. */
export function TeamsPage() {
  const { can } = useSession();
  const teams = api.useQuery("get", "/api/v1/teams", {}, { staleTime: 0 });
  const [editing, setEditing] = useState<Editing | null>(null);
  // As it is now: what is saved must not undo what somebody else has changed meanwhile.
  const edit = useMutation({
    mutationFn: async (team: Team) => {
      const { data, response } = await client.GET("/api/v1/teams/{teamId}", { params: { path: { teamId: team.id } } });
      if (data) setEditing({ team: data, etag: response.headers.get("ETag") ?? "*" });
    },
    onError: (error) => sayProblem(error),
  });
  const [removing, setRemoving] = useState<Team | null>(null);
  const changed = useTeamsChanged();
  // From the place that the reader saw: if the order has changed since, nothing moves, and the new order is shown.
  const move = useMutation({
    mutationFn: async ({ team, to }: { team: Team; to: number }) => {
      const params = { path: { teamId: team.id } };
      const { data, response } = await client.GET("/api/v1/teams/{teamId}", { params });
      const tag = response.headers.get("ETag") ?? "*";
      const header = { "If-Match": data?.position === team.position ? tag : '"another order"' };
      await client.PATCH("/api/v1/teams/{teamId}", { params: { ...params, header }, body: { position: to } });
    },
    onSuccess: (_, { team, to }) => say(`The team ${team.name} is now in place ${to}.`),
    onError: (error) => sayProblem(error),
    onSettled: changed,
  });
  const items = teams.data?.items;
  const admin = can("admin");
  return (
    <>
      <PageTitle
        title="Teams"
        lead="A team has the servers that its selector matches. If several teams match a server, the first one owns it."
        actions={
          admin && (
            <Button
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={() => setEditing({ team: null, etag: "*" })}
            >
              New team
            </Button>
          )
        }
      />
      {teams.isPending && <ListSkeleton rows={3} />}
      {teams.isError && (
        <ProblemNote error={teams.error} title="Teams could not be loaded" onRetry={() => teams.refetch()} />
      )}
      {items?.length === 0 && (
        <EmptyState icon={<IconUsersGroup size={28} aria-hidden />} title="No teams">
          Servers, alerts and findings have no owner.
        </EmptyState>
      )}
      <Stack gap="sm" maw={860} component="ol" style={{ listStyle: "none", padding: 0, margin: 0 }} aria-label="Teams">
        {items?.map((team, at) => (
          <li key={team.id}>
            <TeamPanel
              team={team}
              place={at + 1}
              last={at === items.length - 1}
              busy={move.isPending}
              onMove={(by) => move.mutate({ team, to: team.position + by })}
              onEdit={admin ? () => edit.mutate(team) : undefined}
              onRemove={() => setRemoving(team)}
            />
          </li>
        ))}
      </Stack>
      {editing && <TeamDialog {...editing} onClose={() => setEditing(null)} />}
      {removing && <Remove team={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

type Shown = {
  team: Team;
  place: number;
  last: boolean;
  busy: boolean;
  onMove: (by: -1 | 1) => void;
  onEdit: (() => void) | undefined;
  onRemove: () => void;
};

function TeamPanel({ team, place, last, busy, onMove, onEdit, onRemove }: Shown) {
  const others = (team.instanceCount ?? 0) - (team.ownedCount ?? 0);
  return (
    <Panel>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={4} style={{ flex: "1 1 18rem", minWidth: 0 }}>
          <Group gap="xs">
            <Badge variant="light" color="gray" aria-label={`Place ${place}`}>
              {place}
            </Badge>
            <Title order={2} size="h4">
              <bdi>{team.name}</bdi>
            </Title>
          </Group>
          <Text size="sm">
            <Owned team={team} />
            {others > 0 && ` ${others} more ${others === 1 ? "belongs" : "belong"} to teams before it.`}
          </Text>
          <Text size="sm" c="dimmed">
            <bdi>{selects(team)}</bdi>
          </Text>
          <Text size="sm" c="dimmed">
            {team.members.length === 0 ? "No members." : "Members: "}
            <bdi>{team.members.map((m) => `${m.name}${m.role === "viewer" ? " (viewer)" : ""}`).join(", ")}</bdi>
          </Text>
        </Stack>
        {onEdit && (
          <Group gap={6}>
            <Move up name={team.name} disabled={place === 1} busy={busy} onMove={() => onMove(-1)} />
            <Move name={team.name} disabled={last} busy={busy} onMove={() => onMove(1)} />
            <Button size="compact-sm" variant="default" aria-label={`Edit ${team.name}`} onClick={onEdit}>
              Edit
            </Button>
            <Button size="compact-sm" variant="default" aria-label={`Remove ${team.name}`} onClick={onRemove}>
              Remove
            </Button>
          </Group>
        )}
      </Group>
    </Panel>
  );
}

type Moves = { up?: boolean; name: string; disabled: boolean; busy: boolean; onMove: () => void };

/** Move is a button that keeps the focus at the end of the list, too, so that a keyboard can go on from there. */
function Move({ up, name, disabled, busy, onMove }: Moves) {
  const label = up ? `Move ${name} up` : `Move ${name} down`;
  const Arrow = up ? IconArrowUp : IconArrowDown;
  return (
    <ActionIcon
      variant="default"
      size={26}
      aria-label={label}
      title={label}
      aria-disabled={disabled || undefined}
      data-disabled={disabled || undefined}
      onClick={() => !disabled && !busy && onMove()}
    >
      <Arrow size={16} aria-hidden />
    </ActionIcon>
  );
}

function Owned({ team }: { team: Team }) {
  if (team.ownedCount === null) return <>How many servers it owns is not known at the moment.</>;
  if (team.ownedCount === 0) return <>It owns no server.</>;
  return (
    <>
      It owns{" "}
      <Anchor renderRoot={(props) => <Link {...props} to="/instances" search={{ owner: team.id } as never} />}>
        {team.ownedCount} {team.ownedCount === 1 ? "server" : "servers"}
      </Anchor>
      .
    </>
  );
}

function Remove({ team, onClose }: { team: Team; onClose: () => void }) {
  const changed = useTeamsChanged();
  const remove = useMutation({
    mutationFn: () => client.DELETE("/api/v1/teams/{teamId}", { params: { path: { teamId: team.id } } }),
    onSuccess: async () => {
      onClose();
      say(`The team ${team.name} is removed.`);
      await changed();
    },
  });
  return (
    <Confirm
      danger
      title={`Remove ${team.name}`}
      verb="Remove"
      busy={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate()}
    >
      Its servers go to the next team that matches them, or have no owner. Members whose role is Team no longer see
      them.
    </Confirm>
  );
}
