import { Anchor, Button, Chip, Group, Input, Select, Table, Text } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../api/client";
import { usePolling, whileMoving } from "../api/polling";
import { useSession } from "../api/session";
import { ownScroll } from "../reports/requestChoices";
import { ListCard, ListCards } from "../settings/ListCards";
import { ListSkeleton, ListTable } from "../settings/ListTable";
import { EmptyState } from "../ui/EmptyState";
import { plural } from "../ui/format";
import { InstantField } from "../ui/InstantField";
import { useNarrow } from "../ui/narrow";
import { PageTitle } from "../ui/PageTitle";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { deliveryStatuses, notifiedEvents } from "../url/schemas";
import { DeliveryMark, keptInOutbox, statusName } from "./marks";
import { Retry } from "./Retry";
import { channelKindName, codeText, type Delivery, eventName, reasonText, summaryOf } from "./words";

/** DeliveriesPage is what was told, through which channel and by which rule, and what came of it. */
export function DeliveriesPage() {
  const { status, channelId, eventType, from, to, cursor } = useSearch({ from: "/notifications/deliveries" });
  const navigate = useNavigate({ from: "/notifications/deliveries" });
  const narrow = useNarrow();
  const nothing = status?.length === 0 || (from !== undefined && to !== undefined && from >= to);
  const deliveries = api.useQuery(
    "get",
    "/api/v1/deliveries",
    { params: { query: { status, channelId, eventType, from, to, cursor, limit: 50 } } },
    {
      ...usePolling<{ items: Delivery[] }>(({ items }) =>
        items.some((d) => d.status === "pending") ? whileMoving : 10_000,
      ),
      placeholderData: keepPreviousData,
      enabled: !nothing,
      staleTime: 0,
    },
  );
  const items = nothing ? [] : deliveries.data?.items;
  const older = nothing ? null : (deliveries.data?.nextCursor ?? null);
  const filtered = [status, channelId, eventType, from, to].some((filter) => filter !== undefined);
  const known = (items ?? []).map(({ channel }) => channel);
  const go = (next: Record<string, unknown>) =>
    navigate({ search: (previous) => ({ ...previous, cursor: undefined, ...next }) });
  return (
    <>
      <PageTitle
        title="Deliveries"
        lead="Notifications sent, newest first. Failed ones are retried for a day, and by hand after that."
      />
      <Filters known={known} filtered={filtered} onChange={go} />
      {deliveries.isPending && !nothing && <ListSkeleton rows={6} />}
      {deliveries.isError && (
        <ProblemNote
          error={deliveries.error}
          title="Deliveries could not be loaded"
          onRetry={() => deliveries.refetch()}
        />
      )}
      {items?.length === 0 && (
        <EmptyState icon={<IconSend size={28} aria-hidden />} title="No deliveries">
          {cursor
            ? "There are no older deliveries."
            : filtered
              ? "No delivery matches these filters."
              : "No event has matched a notification rule yet."}
        </EmptyState>
      )}
      {items &&
        items.length > 0 &&
        (narrow ? (
          <ListCards label="Deliveries" busy={deliveries.isPlaceholderData}>
            {items.map((delivery) => (
              <Card key={delivery.id} delivery={delivery} />
            ))}
          </ListCards>
        ) : (
          <ListTable
            label="Deliveries"
            columns={["When", "What", "Channel", "Rule", "State", "(Actions)"]}
            minWidth={980}
            busy={deliveries.isPlaceholderData}
          >
            {items.map((delivery) => (
              <Row key={delivery.id} delivery={delivery} />
            ))}
          </ListTable>
        ))}
      <Group justify="flex-end" mt="md">
        {cursor && (
          <Button variant="default" onClick={() => go({})}>
            Newest
          </Button>
        )}
        {older && (
          <Button variant="default" disabled={deliveries.isPlaceholderData} onClick={() => go({ cursor: older })}>
            Older
          </Button>
        )}
      </Group>
    </>
  );
}

type Named = { id: string; name: string };

/** Filters narrow the list. They live in the address, and each that stands there is seen, so that nothing is left out unsaid. */
function Filters({
  known,
  filtered,
  onChange,
}: {
  /** The channels of the deliveries that are shown. */
  known: Named[];
  filtered: boolean;
  onChange: (next: Record<string, unknown>) => void;
}) {
  const { status, channelId, eventType, from, to } = useSearch({ from: "/notifications/deliveries" });
  const { can } = useSession();
  // Auditors read deliveries, and channels only as these name them.
  const all = api.useQuery("get", "/api/v1/channels", {}, { enabled: can("admin") });
  const channels = new Map([...known, ...(all.data?.items ?? [])].map(({ id, name }) => [id, name]));
  if (channelId && !channels.has(channelId)) channels.set(channelId, `Channel ${channelId.slice(0, 8)}…`);
  const backwards = from !== undefined && to !== undefined && from >= to;
  return (
    <Group mb="md" gap="sm" align="flex-start" role="search" aria-label="Filter the deliveries">
      <Input.Wrapper label="State" labelElement="div">
        <Chip.Group
          multiple
          value={status ?? []}
          onChange={(chosen) => onChange({ status: chosen.length > 0 ? chosen : undefined })}
        >
          <Group gap="xs" mih={36} role="group" aria-label="State">
            {deliveryStatuses.map((s) => (
              <Chip key={s} value={s} size="sm" variant="outline">
                {statusName(s)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </Input.Wrapper>
      <Select
        label="Event"
        placeholder="Any event"
        clearable
        w={{ base: "100%", sm: 210 }}
        data={notifiedEvents.map((value) => ({ value, label: eventName(value) }))}
        value={eventType ?? null}
        onChange={(chosen) => onChange({ eventType: chosen ?? undefined })}
      />
      <Select
        label="Channel"
        placeholder="Any channel"
        clearable
        w={{ base: "100%", sm: 210 }}
        {...ownScroll}
        data={[...channels].map(([value, label]) => ({ value, label }))}
        value={channelId ?? null}
        onChange={(chosen) => onChange({ channelId: chosen ?? undefined })}
      />
      <Group gap="sm" align="flex-start" w={{ base: "100%", sm: "auto" }}>
        <InstantField
          label="From"
          value={from}
          error={backwards ? "Must be before To." : null}
          onCommit={(at) => onChange({ from: at })}
        />
        <InstantField label="To" value={to} error={null} onCommit={(at) => onChange({ to: at })} />
        {filtered && (
          <Button
            variant="subtle"
            mt={{ base: 0, sm: 24 }}
            onClick={() =>
              onChange({
                status: undefined,
                channelId: undefined,
                eventType: undefined,
                from: undefined,
                to: undefined,
              })
            }
          >
            Clear filters
          </Button>
        )}
      </Group>
    </Group>
  );
}

type Of = { delivery: Delivery };

const Row = ({ delivery: d }: Of) => (
  <Table.Tr style={{ verticalAlign: "top" }} data-delivery={d.id} data-status={d.status}>
    <Table.Td>
      <Time at={d.createdAt} />
    </Table.Td>
    <Table.Td maw={340}>
      <What delivery={d} />
    </Table.Td>
    <Table.Td>
      <bdi>{d.channel.name}</bdi>
      <Text size="xs" c="dimmed">
        {channelKindName(d.channel.kind)}
      </Text>
    </Table.Td>
    <Table.Td>
      <bdi>{d.rule.name}</bdi>
    </Table.Td>
    <Table.Td maw={260}>
      <DeliveryMark status={d.status} reason={d.reason} kept={keptInOutbox(d.channel.kind, d)} />
      <Tries delivery={d} />
    </Table.Td>
    <Table.Td ta="right">
      <Again delivery={d} />
    </Table.Td>
  </Table.Tr>
);

const Card = ({ delivery: d }: Of) => (
  <ListCard
    label={summaryOf(d)}
    title={<What delivery={d} />}
    mark={<DeliveryMark status={d.status} kept={keptInOutbox(d.channel.kind, d)} />}
    actions={d.status === "failed" && <Again delivery={d} />}
  >
    <Text size="xs" c="dimmed" component="div">
      <Time at={d.createdAt} /> · {channelKindName(d.channel.kind)} <bdi>{d.channel.name}</bdi> · rule{" "}
      <bdi>{d.rule.name}</bdi>
    </Text>
    {d.reason && <Text size="xs">{reasonText(d.reason)}</Text>}
    <Tries delivery={d} />
  </ListCard>
);

const What = ({ delivery: d }: Of) => (
  <>
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link {...props} to="/notifications/deliveries/$deliveryId" params={{ deliveryId: d.id } as never} />
      )}
    >
      <bdi>{summaryOf(d)}</bdi>
    </Anchor>
    <Text size="xs" c="dimmed">
      {[...new Set(d.events.map(({ type }) => eventName(type)))].join(", ")}
    </Text>
  </>
);

/** Tries is how often a delivery that was not sent was tried, what came back, and when it is tried again. */
function Tries({ delivery: d }: Of) {
  if (d.status === "sent") return null;
  const code = codeText(d.channel.kind, d.lastCode);
  return (
    <>
      {d.attempts > 0 && (
        <Text size="xs" c="dimmed" component="div">
          {plural(d.attempts, "attempt")}
          {code && `, ${code}`}
          {d.nextAttemptAt && (
            <>
              , next <Time at={d.nextAttemptAt} ahead />
            </>
          )}
        </Text>
      )}
      {d.lastError && <Text size="xs">{d.lastError}</Text>}
    </>
  );
}

const Again = ({ delivery: d }: Of) => useSession().can("admin") && d.status === "failed" && <Retry delivery={d} />;
