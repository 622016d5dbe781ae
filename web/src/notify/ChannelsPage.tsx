import { Anchor, Box, Button, Group, Stack, Table, Text } from "@mantine/core";
import { IconPlus, IconSend } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, client } from "../api/client";
import { usePolling } from "../api/polling";
import { asProblem } from "../api/problem";
import { nameOr, useMemberChoices } from "../reports/requestChoices";
import { Confirm } from "../settings/Confirm";
import { ListCard, ListCards } from "../settings/ListCards";
import { ListSkeleton, ListTable } from "../settings/ListTable";
import { EmptyState } from "../ui/EmptyState";
import { useNarrow } from "../ui/narrow";
import { PageTitle } from "../ui/PageTitle";
import { ProblemNote } from "../ui/ProblemNote";
import { say, sayProblem } from "../ui/say";
import { Time } from "../ui/Time";
import { ChannelForm } from "./ChannelForm";
import { ChannelTest } from "./ChannelTest";
import { notificationsChanged } from "./changed";
import { DeliveryMark, keptInOutbox } from "./marks";
import { type Channel, channelKindName } from "./words";

/** ChannelsPage is the ways by which people and programs are told, each to be tried. */
export function ChannelsPage() {
  const channels = api.useQuery("get", "/api/v1/channels", {}, { ...usePolling(() => 30_000), staleTime: 0 });
  const [editing, setEditing] = useState<Channel | "new" | null>(null);
  const [removing, setRemoving] = useState<Channel | null>(null);
  const items = channels.data?.items;
  return (
    <>
      <PageTitle
        title="Notification channels"
        lead="Channels are the ways to people and programs. Rules say which events go to which channel."
        actions={
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEditing("new")}>
            Add a channel
          </Button>
        }
      />
      {channels.isPending && <ListSkeleton rows={3} />}
      {channels.isError && (
        <ProblemNote error={channels.error} title="Channels could not be loaded" onRetry={() => channels.refetch()} />
      )}
      {items?.length === 0 && (
        <EmptyState icon={<IconSend size={28} aria-hidden />} title="No channels">
          Add one, try it, and then a rule that uses it.
        </EmptyState>
      )}
      {items && items.length > 0 && <Channels channels={items} onEdit={setEditing} onRemove={setRemoving} />}
      {editing && <ChannelForm channel={editing === "new" ? null : editing} onClose={() => setEditing(null)} />}
      {removing && <Remove channel={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

type Shown = { channels: Channel[]; onEdit: (channel: Channel) => void; onRemove: (channel: Channel) => void };

function Channels({ channels, onEdit, onRemove }: Shown) {
  const narrow = useNarrow();
  const shown = (channel: Channel) => ({
    channel,
    onEdit: () => onEdit(channel),
    onRemove: () => onRemove(channel),
  });
  if (narrow) {
    return (
      <ListCards label="Channels">
        {channels.map((channel) => (
          <Card {...shown(channel)} key={channel.id} />
        ))}
      </ListCards>
    );
  }
  return (
    <ListTable label="Channels" columns={["Name", "Reaches", "Rules", "Last", "(Actions)"]} minWidth={980}>
      {channels.map((channel) => (
        <Row {...shown(channel)} key={channel.id} />
      ))}
    </ListTable>
  );
}

type One = { channel: Channel; onEdit: () => void; onRemove: () => void };

const Row = ({ channel: c, onEdit, onRemove }: One) => (
  <Table.Tr style={{ verticalAlign: "top" }} data-channel={c.id}>
    <Table.Td maw={260}>
      <Name channel={c} />
    </Table.Td>
    <Table.Td maw={320} style={{ overflowWrap: "anywhere" }}>
      <Reaches channel={c} />
    </Table.Td>
    <Table.Td maw={220}>
      <UsedBy channel={c} />
    </Table.Td>
    <Table.Td>
      <Last channel={c} />
    </Table.Td>
    <Table.Td>
      <Group gap={6} justify="flex-end" wrap="nowrap" align="flex-start">
        <ChannelTest channel={c} />
        <Actions channel={c} onEdit={onEdit} onRemove={onRemove} />
      </Group>
    </Table.Td>
  </Table.Tr>
);

const Card = ({ channel: c, onEdit, onRemove }: One) => (
  <ListCard
    label={c.name}
    title={<Name channel={c} />}
    facts={[
      ["Rules", <UsedBy key="rules" channel={c} />],
      ["Last", <Last key="last" channel={c} />],
    ]}
    actions={
      <>
        <Actions channel={c} onEdit={onEdit} onRemove={onRemove} />
        <Box w="100%">
          <ChannelTest channel={c} />
        </Box>
      </>
    }
  >
    <div style={{ overflowWrap: "anywhere" }}>
      <Reaches channel={c} />
    </div>
  </ListCard>
);

type Of = { channel: Channel };

const Name = ({ channel: c }: Of) => (
  <>
    <Text size="sm" fw={500}>
      <bdi>{c.name}</bdi>
    </Text>
    <Text size="xs" c="dimmed">
      {channelKindName(c.kind)}
    </Text>
  </>
);

const UsedBy = ({ channel: c }: Of) =>
  c.rules.length === 0 ? (
    <Text size="sm" c="dimmed">
      None: it is never used
    </Text>
  ) : (
    <Stack gap={6}>
      {c.rules.map((rule) => (
        <Anchor
          key={rule.id}
          size="sm"
          renderRoot={(props) => (
            <Link {...props} to="/notifications/rules/$ruleId" params={{ ruleId: rule.id } as never} />
          )}
        >
          <bdi>{rule.name}</bdi>
        </Anchor>
      ))}
    </Stack>
  );

const Last = ({ channel: { kind, lastDelivery: last } }: Of) =>
  last ? (
    <>
      <DeliveryMark status={last.status} kept={keptInOutbox(kind, last)} />
      <Anchor
        size="xs"
        display="block"
        renderRoot={(props) => (
          <Link {...props} to="/notifications/deliveries/$deliveryId" params={{ deliveryId: last.id } as never} />
        )}
      >
        <Time at={last.at} />
      </Anchor>
    </>
  ) : (
    "None yet"
  );

const Actions = ({ channel: c, onEdit, onRemove }: One) => (
  <>
    <Button size="compact-sm" variant="default" flex="none" aria-label={`Edit ${c.name}`} onClick={onEdit}>
      Edit
    </Button>
    <Button size="compact-sm" variant="default" flex="none" aria-label={`Remove ${c.name}`} onClick={onRemove}>
      Remove
    </Button>
  </>
);

function Reaches({ channel: c }: { channel: Channel }) {
  const { named } = useMemberChoices("", c.memberIds);
  if (c.kind !== "email") return <Text size="sm">{c.url}</Text>;
  const names = c.memberIds.map((id) => nameOr(named, id, "member"));
  const confirmed = c.addresses?.filter(({ confirmedAt }) => confirmedAt !== null) ?? [];
  const people = [...(c.administrators ? ["All administrators"] : []), ...names, ...confirmed.map((a) => a.address)];
  return (
    <>
      <Text size="sm">{people.join(", ") || "Nobody"}</Text>
      <Unconfirmed channel={c} />
    </>
  );
}

/** Unconfirmed are the addresses of a channel that have not agreed yet: nothing is sent there. */
function Unconfirmed({ channel: c }: Of) {
  const ask = useMutation({
    mutationFn: () =>
      client.POST("/api/v1/channels/{channelId}/confirmations", { params: { path: { channelId: c.id } } }),
    onSuccess: async () => {
      say("The link was e-mailed again.");
      await notificationsChanged();
    },
    onError: (error) => sayProblem(error),
  });
  const addresses = c.addresses?.filter(({ confirmedAt }) => confirmedAt === null) ?? [];
  if (addresses.length === 0) return null;
  return (
    <div data-unconfirmed>
      {addresses.map(({ id, address, askedAt }) => (
        <Text key={id} size="xs" c="dimmed">
          {address}: not confirmed,{" "}
          {askedAt === null ? (
            "the link could not be e-mailed"
          ) : (
            <>
              link e-mailed <Time at={askedAt} relative />
            </>
          )}
        </Text>
      ))}
      <Button
        size="compact-xs"
        variant="default"
        mt={4}
        loading={ask.isPending}
        aria-label={`E-mail the links of ${c.name} again`}
        onClick={() => ask.mutate()}
      >
        E-mail the link again
      </Button>
    </div>
  );
}

function Remove({ channel: c, onClose }: { channel: Channel; onClose: () => void }) {
  const remove = useMutation({
    mutationFn: () => client.DELETE("/api/v1/channels/{channelId}", { params: { path: { channelId: c.id } } }),
    onSuccess: async () => {
      onClose();
      say(`The channel ${c.name} is removed.`);
      await notificationsChanged();
    },
  });
  const inUse = remove.error && asProblem(remove.error).code === "channel_in_use";
  return (
    <Confirm
      danger
      title={`Remove ${c.name}`}
      verb="Remove"
      busy={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate()}
    >
      {inUse || c.rules.length > 0
        ? "Rules still use this channel. Choose another channel in these rules first."
        : "Deliveries that still wait for this channel are not sent. Sent deliveries stay in the list."}
    </Confirm>
  );
}
