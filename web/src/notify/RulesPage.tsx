import { Anchor, Button, Group, Switch, Table, Text } from "@mantine/core";
import { IconBellRinging, IconPlus } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, client } from "../api/client";
import { Confirm } from "../settings/Confirm";
import { ListCard, ListCards } from "../settings/ListCards";
import { ListSkeleton, ListTable } from "../settings/ListTable";
import { EmptyState } from "../ui/EmptyState";
import { useNarrow } from "../ui/narrow";
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
        lead="Rules say who is notified of which events. An event that matches several rules is sent by each of them."
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
      {channels.isError && (
        <ProblemNote
          error={channels.error}
          title="The names of channels could not be loaded"
          onRetry={() => channels.refetch()}
        />
      )}
      {items?.length === 0 && (
        <EmptyState icon={<IconBellRinging size={28} aria-hidden />} title="No rules">
          Alerts, failed reports and missed scheduled reports are not sent to anyone.
        </EmptyState>
      )}
      {items && items.length > 0 && <Rules rules={items} names={names} onRemove={setRemoving} />}
      {removing && <Remove rule={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

type Shown = { rules: Rule[]; names: Map<string, string>; onRemove: (rule: Rule) => void };

function Rules({ rules, names, onRemove }: Shown) {
  const narrow = useNarrow();
  const shown = (rule: Rule) => ({
    rule,
    channels: rule.channelIds.map((id) => names.get(id) ?? "…").join(", "),
    onRemove: () => onRemove(rule),
  });
  if (narrow) {
    return (
      <ListCards label="Notification rules">
        {rules.map((rule) => (
          <Card key={rule.id} {...shown(rule)} />
        ))}
      </ListCards>
    );
  }
  return (
    <ListTable label="Notification rules" columns={["Name", "Tells of", "Through", "On", "(Actions)"]} minWidth={900}>
      {rules.map((rule) => (
        <Row key={rule.id} {...shown(rule)} />
      ))}
    </ListTable>
  );
}

type One = { rule: Rule; channels: string; onRemove: () => void };

const Row = ({ rule, channels, onRemove }: One) => (
  <Table.Tr style={{ verticalAlign: "top" }} data-rule={rule.id}>
    <Table.Td maw={240}>
      <Name rule={rule} />
    </Table.Td>
    <Table.Td maw={380}>
      <Tells rule={rule} />
    </Table.Td>
    <Table.Td maw={220}>
      <bdi>{channels}</bdi>
    </Table.Td>
    <Table.Td>
      <OnOff rule={rule} />
    </Table.Td>
    <Table.Td>
      <Group gap={6} justify="flex-end" wrap="nowrap">
        <Actions rule={rule} onRemove={onRemove} />
      </Group>
    </Table.Td>
  </Table.Tr>
);

const Card = ({ rule, channels, onRemove }: One) => (
  <ListCard
    label={rule.name}
    title={<Name rule={rule} />}
    mark={<OnOff rule={rule} />}
    actions={<Actions rule={rule} onRemove={onRemove} />}
  >
    <Tells rule={rule} />
    <Text size="sm" mt={4}>
      Through <bdi>{channels}</bdi>
    </Text>
  </ListCard>
);

type Of = { rule: Rule };

const Name = ({ rule }: Of) => (
  <>
    <Anchor
      size="sm"
      fw={500}
      renderRoot={(props) => (
        <Link {...props} to="/notifications/rules/$ruleId" params={{ ruleId: rule.id } as never} />
      )}
    >
      <bdi>{rule.name}</bdi>
    </Anchor>
    <Text size="xs" c="dimmed">
      {rule.createdBy === null ? "Set up by Muster" : <bdi>{rule.createdBy.name || "Erased member"}</bdi>}
    </Text>
  </>
);

function Tells({ rule }: Of) {
  const told = whatText(rule.match);
  return (
    <>
      <Text size="sm">{told.charAt(0).toUpperCase() + told.slice(1)}</Text>
      <Text size="xs" c="dimmed">
        {howText(rule)}
      </Text>
    </>
  );
}

function OnOff({ rule }: Of) {
  const change = useMutation({
    mutationFn: (enabled: boolean) =>
      client.PATCH("/api/v1/notification-rules/{ruleId}", { params: { path: { ruleId: rule.id } }, body: { enabled } }),
    onSuccess: async (_, enabled) => {
      say(`${rule.name} is ${enabled ? "on" : "off"}.`);
      await notificationsChanged();
    },
    onError: (error) => sayProblem(error),
  });
  return (
    <Switch
      aria-label={`${rule.name} is on`}
      checked={rule.enabled}
      disabled={change.isPending}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
    />
  );
}

const Actions = ({ rule, onRemove }: Of & { onRemove: () => void }) => (
  <>
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`Edit ${rule.name}`}
      renderRoot={(props) => (
        <Link {...props} to="/notifications/rules/$ruleId" params={{ ruleId: rule.id } as never} />
      )}
    >
      Edit
    </Button>
    <Button size="compact-sm" variant="default" aria-label={`Remove ${rule.name}`} onClick={onRemove}>
      Remove
    </Button>
  </>
);

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
      The rule stops sending, also messages that are waiting. The list of deliveries keeps what the rule has sent.
    </Confirm>
  );
}
