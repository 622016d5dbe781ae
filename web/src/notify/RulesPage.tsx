import { Anchor, Button, Group, Switch, Table, Text } from "@mantine/core";
import { IconBellRinging, IconPlus } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, client } from "../api/client";
import { Confirm } from "../settings/Confirm";
import { ListSkeleton, ListTable } from "../settings/ListTable";
import { EmptyState } from "../ui/EmptyState";
import { PageTitle } from "../ui/PageTitle";
import { ProblemNote } from "../ui/ProblemNote";
import { say, sayProblem } from "../ui/say";
import { ByItself } from "./ByItself";
import { notificationsChanged } from "./changed";
import { howText, type Rule, whatText } from "./words";

/** RulesPage is who is told of what. */
export function RulesPage() {
  const rules = api.useQuery("get", "/api/v1/notification-rules", {}, { staleTime: 0 });
  const channels = api.useQuery("get", "/api/v1/channels");
  const [removing, setRemoving] = useState<Rule | null>(null);
  const names = new Map(channels.data?.items.map(({ id, name }) => [id, name]));
  const items = rules.data?.items;
  return (
    <>
      <PageTitle
        title="Notification rules"
        lead="Who is told of what. An event that matches several rules is told by each of them."
        actions={
          <Button
            leftSection={<IconPlus size={16} aria-hidden />}
            renderRoot={(props) => <Link {...props} to="/notifications/rules/new" />}
          >
            New rule
          </Button>
        }
      />
      <ByItself />
      {rules.isPending && <ListSkeleton rows={3} />}
      {rules.isError && (
        <ProblemNote error={rules.error} title="Rules could not be loaded" onRetry={() => rules.refetch()} />
      )}
      {items?.length === 0 && (
        <EmptyState icon={<IconBellRinging size={28} aria-hidden />} title="No rules">
          Nobody is told of alerts, and of failed reports only those who requested them.
        </EmptyState>
      )}
      {items && items.length > 0 && (
        <ListTable
          label="Notification rules"
          columns={["Name", "Tells of", "Through", "On", "(Actions)"]}
          minWidth={980}
        >
          {items.map((rule) => (
            <Row
              key={rule.id}
              rule={rule}
              channels={rule.channelIds.map((id) => names.get(id) ?? "…")}
              onRemove={() => setRemoving(rule)}
            />
          ))}
        </ListTable>
      )}
      {removing && <Remove rule={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

function Row({ rule, channels, onRemove }: { rule: Rule; channels: string[]; onRemove: () => void }) {
  const path = { ruleId: rule.id };
  const change = useMutation({
    mutationFn: (enabled: boolean) =>
      client.PATCH("/api/v1/notification-rules/{ruleId}", { params: { path }, body: { enabled } }),
    onSuccess: async (_, enabled) => {
      say(`${rule.name} is ${enabled ? "on" : "off"}.`);
      await notificationsChanged();
    },
    onError: (error) => sayProblem(error),
  });
  const told = whatText(rule.match);
  return (
    <Table.Tr style={{ verticalAlign: "top" }} data-rule={rule.id}>
      <Table.Td maw={240}>
        <Anchor
          size="sm"
          fw={500}
          renderRoot={(props) => <Link {...props} to="/notifications/rules/$ruleId" params={path as never} />}
        >
          <bdi>{rule.name}</bdi>
        </Anchor>
        <Text size="xs" c="dimmed">
          {rule.createdBy === null ? "Set up by Muster" : <bdi>{rule.createdBy.name || "Erased member"}</bdi>}
        </Text>
      </Table.Td>
      <Table.Td maw={380}>
        <Text size="sm">{told.charAt(0).toUpperCase() + told.slice(1)}</Text>
        <Text size="xs" c="dimmed">
          {howText(rule)}
        </Text>
      </Table.Td>
      <Table.Td maw={220}>
        <bdi>{channels.join(", ")}</bdi>
      </Table.Td>
      <Table.Td>
        <Switch
          aria-label={`${rule.name} is on`}
          checked={rule.enabled}
          disabled={change.isPending}
          onChange={(event) => change.mutate(event.currentTarget.checked)}
        />
      </Table.Td>
      <Table.Td ta="right">
        <Group gap={6} justify="flex-end" wrap="nowrap">
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Edit ${rule.name}`}
            renderRoot={(props) => <Link {...props} to="/notifications/rules/$ruleId" params={path as never} />}
          >
            Edit
          </Button>
          <Button size="compact-sm" variant="default" aria-label={`Remove ${rule.name}`} onClick={onRemove}>
            Remove
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function Remove({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  const remove = useMutation({
    mutationFn: () => client.DELETE("/api/v1/notification-rules/{ruleId}", { params: { path: { ruleId: rule.id } } }),
    onSuccess: async () => {
      onClose();
      say(`The rule ${rule.name} is removed.`);
      await notificationsChanged();
    },
  });
  return (
    <Confirm
      danger
      title={`Remove ${rule.name}`}
      verb="Remove"
      busy={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate()}
    >
      Nobody is told by this rule any more, nor of what still waits. What it has told stays in the list of deliveries.
    </Confirm>
  );
}
