import { Button, Group } from "@mantine/core";
import { IconUsersGroup } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useMatches } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { api, type Schemas } from "../api/client";
import { everyInstance } from "../instances/every";
import { EmptyState } from "../ui/EmptyState";
import { count } from "../ui/format";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import type { Servers } from "../window/query";
import { TeamContext, useScope } from "../window/scope";
import { mostIds, selected } from "../window/team";
import { PagePending } from "./PagePending";

/** How a page is limited to a team: the API takes the team itself, or the page names its servers. */
export type ByTeam = "owner" | "servers";

const everything: Servers = {};

/** TeamScope limits a page to the team of its address. What cannot be limited is not shown. */
export function TeamScope({ by, children }: { by: ByTeam | undefined; children: ReactNode }) {
  const owner = useOwner(by);
  const { data, error, isPending, refetch } = api.useQuery(
    "get",
    "/api/v1/teams",
    {},
    { enabled: owner !== undefined },
  );
  const team = data?.items.find(({ id }) => id === owner);
  const named = useNamed(by === "servers" ? team : undefined);
  const servers = by === "servers" ? named.servers : everything;
  const page = () => {
    if (owner === undefined) return children;
    if (error && !data) return <ProblemNote error={error} title="Teams could not be loaded" onRetry={refetch} />;
    if (isPending) return <PagePending />;
    if (!team) return <Instead title="This team was removed">Choose another team above.</Instead>;
    if (team.ownedCount === 0) return <NoServers team={team} />;
    if (named.error)
      return <ProblemNote error={named.error} title="Servers could not be loaded" onRetry={named.retry} />;
    if (!servers) return <PagePending />;
    if ((servers.instanceId?.length ?? 0) > mostIds) return <TooMany team={team} />;
    return children;
  };
  return <TeamContext value={servers ?? everything}>{page()}</TeamContext>;
}

/** useOwner is the team of the page's address, where the page can be limited to one. */
function useOwner(by: ByTeam | undefined): string | undefined {
  const search: { owner?: string } = useMatches({ select: (matches) => matches[matches.length - 1]?.search ?? {} });
  return by && search.owner;
}

/** useNamed is the filter that leaves a team's servers: its tags, or where these are not exact the servers' ids. */
function useNamed(team: Schemas["Team"] | undefined) {
  const bySelector = useMemo(() => (team ? selected(team) : everything), [team]);
  const { data, error, refetch } = useQuery({
    queryKey: ["get", "/api/v1/instances", "of a team", team?.id],
    queryFn: ({ signal }) => everyInstance({ owner: team?.id }, signal),
    enabled: bySelector === null,
  });
  const ids = useMemo(() => data && { instanceId: data.map(({ id }) => id) }, [data]);
  if (bySelector) return { servers: bySelector, error: null, retry: refetch };
  return { servers: ids, error: ids ? null : error, retry: refetch };
}

function NoServers({ team }: { team: Schemas["Team"] }) {
  return (
    <Instead title={`${team.name} owns no servers`}>
      {team.instanceCount
        ? "Its selector matches servers, but they belong to teams before it."
        : "No server matches its selector. An administrator can change it."}
    </Instead>
  );
}

function TooMany({ team }: { team: Schemas["Team"] }) {
  return (
    <Instead title={`${team.name} owns more than ${count(mostIds)} servers`}>
      This page can show so many servers of a team only if its selector has nothing but tags and matches no server of an
      earlier team. Alerts, Servers and Findings show all of them.
    </Instead>
  );
}

function Instead({ title, children }: { title: string; children: ReactNode }) {
  const { setOwner } = useScope();
  return (
    <Panel>
      <EmptyState
        icon={<IconUsersGroup size={32} aria-hidden />}
        title={title}
        action={
          <Group gap="xs" mt="xs" justify="center">
            <Button size="xs" variant="default" onClick={() => setOwner(undefined)}>
              Show all teams
            </Button>
            <Button size="xs" variant="subtle" renderRoot={(props) => <Link to="/teams" {...props} />}>
              Teams
            </Button>
          </Group>
        }
      >
        {children}
      </EmptyState>
    </Panel>
  );
}
