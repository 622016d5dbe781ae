import { Alert, Group, Skeleton, Table, Text, Title } from "@mantine/core";
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconPlayerPause,
  IconPlugConnectedX,
  IconProgress,
} from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api } from "../api/client";
import { palette } from "../chart/palette";
import { TimeSeriesChart } from "../chart/TimeSeriesChart";
import type { ChartSeries } from "../chart/types";
import { bytes, plural, seconds } from "../ui/format";
import { Mark, type Tone } from "../ui/Mark";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Snippet } from "../ui/Snippet";
import { Since, Time } from "../ui/Time";
import { useScope } from "../window/scope";
import {
  type Branch,
  behind,
  type Condition,
  conditionNames,
  heldBack,
  type Replication as Known,
  keyOf,
  lostAfter,
  roleNames,
  shows,
  treesOf,
} from "./replication";
import classes from "./replication.module.css";
import { ServerLink } from "./ServerLink";
import type { Instance } from "./standing";

/** Replication is who follows whom, how far they are behind, and what slots hold back. */
export function Replication({ instance: i }: { instance: Instance }) {
  const { window } = useScope();
  const { from, to, bucketSize } = window;
  const asked = api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/replication",
    { params: { path: { instanceId: i.id }, query: { from, to, bucketSize } } },
    { placeholderData: keepPreviousData },
  );
  const known = asked.data;
  return (
    <Panel miw={0} data-replication>
      <Group justify="space-between" mb="sm">
        <Title order={2}>Replication</Title>
        {known?.measuredAt && (
          <Text size="sm" c="dimmed">
            {known.role ? (known.engineRole?.toLowerCase() ?? roleNames[known.role]) : "role unknown"}
            {known.roleSince && (
              <>
                {" "}
                since <Time at={known.roleSince} />
              </>
            )}
            , measured <Time at={known.measuredAt} relative />
          </Text>
        )}
      </Group>
      {asked.error && !known && <ProblemNote error={asked.error} onRetry={asked.refetch} />}
      {!known && !asked.error && <Skeleton height={100} />}
      {known && <Told known={known} instance={i} />}
    </Panel>
  );
}

function Told({ known, instance }: { known: Known; instance: Instance }) {
  if (known.measuredAt === null) {
    return (
      <Text size="sm" c="dimmed">
        Not measured: Muster has not read the replication of this server yet, or the account may not read it. Missing
        grants are listed below.
      </Text>
    );
  }
  return (
    <>
      <Split known={known} />
      <Denied known={known} />
      {!shows(known) && known.missingGrant === null && (
        <Text size="sm" c="dimmed">
          This server has no standbys and follows no other server.
        </Text>
      )}
      {shows(known) && (
        <div className={classes.halves}>
          <div className={classes.half}>
            <Drawn known={known} instanceId={instance.id} />
          </div>
          <div className={classes.half}>
            <Lag known={known} />
          </div>
        </div>
      )}
      <Slots known={known} />
      <Subscriptions known={known} />
      {known.omitted > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          {plural(known.omitted, "more standby or slot is", "more standbys and slots are")} not listed.
        </Text>
      )}
      <Failovers known={known} />
    </>
  );
}

/** Split says that two servers take writes which are one and the same. */
function Split({ known: { otherPrimaries: others } }: { known: Known }) {
  if (others.length === 0) return null;
  return (
    <Alert color="red" variant="outline" icon={<IconAlertTriangle aria-hidden />} mb="sm" data-split>
      <Text fw={600} size="sm">
        {others.length === 1 ? "Another primary" : "Other primaries"} of the same system:{" "}
        {others.map((o, n) => (
          <span key={o.id}>
            {n > 0 && ", "}
            <ServerLink id={o.id} name={o.name} inherit underline="always" />
          </span>
        ))}
      </Text>
      <Text size="sm">
        All of them accept writes. This is a failover whose old primary was not stopped, or a copy that was restored
        from a backup.
      </Text>
    </Alert>
  );
}

function Denied({ known: { missingGrant: grant, role } }: { known: Known }) {
  if (grant === null) return null;
  return (
    <div className={classes.denied}>
      <Text size="sm" mb="xs">
        {role === null
          ? "Not measured: the account may not see whether this server replicates."
          : "Not measured in full: the account may not see who follows this server, or whom it follows."}
      </Text>
      <Snippet label="Run this as an administrator" text={grant} wrapped />
    </div>
  );
}

const marks: Record<Condition, [Tone, ReactNode]> = {
  works: ["good", <IconCircleCheck size={16} aria-hidden key="i" />],
  catchingUp: ["busy", <IconProgress size={16} aria-hidden key="i" />],
  paused: ["warning", <IconPlayerPause size={16} aria-hidden key="i" />],
  inactive: ["warning", <IconCircleDashed size={16} aria-hidden key="i" />],
  gone: ["bad", <IconPlugConnectedX size={16} aria-hidden key="i" />],
  broken: ["bad", <IconAlertTriangle size={16} aria-hidden key="i" />],
};

type Troubled = { condition: Condition; since: string | null; why: string | null };

/** How is a condition by shape and word, and since when it lasts. */
function How({ of: { condition, since, why }, word }: { of: Troubled; word?: string }) {
  const [tone, icon] = marks[condition];
  return (
    <>
      <Text size="sm" component="div">
        <Mark tone={tone} icon={icon}>
          {word ?? conditionNames[condition]}
        </Mark>
      </Text>
      {condition !== "works" && since && (
        <Text size="xs" c="dimmed">
          <Since at={since} />
        </Text>
      )}
      {condition !== "works" && why && why !== conditionNames[condition] && (
        <Text size="xs" style={{ overflowWrap: "anywhere" }}>
          {why}
        </Text>
      )}
    </>
  );
}

/** Drawn are the servers, each with those that follow it to its right, or below it where there is no room. */
function Drawn({ known, instanceId }: { known: Known; instanceId: string }) {
  return (
    <ul className={classes.roots} aria-label="Replication topology">
      {treesOf(known).map((branch) => (
        <Tree branch={branch} instanceId={instanceId} slots={known.slots} key={keyOf(branch)} />
      ))}
    </ul>
  );
}

function Tree({
  branch: { node, edge, children },
  instanceId,
  slots,
}: {
  branch: Branch;
  instanceId: string;
  slots: Known["slots"];
}) {
  const here = node.instance?.id === instanceId;
  const idle = here ? slots.filter((s) => !s.active && s.condition !== "works") : [];
  const state = edge ?? node;
  return (
    <li className={classes.branch} data-condition={state.condition}>
      <div
        className={classes.node}
        data-here={here || undefined}
        data-condition={state.condition}
        data-node={node.name}
      >
        <Text size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>
          {here || !node.instance ? (
            <bdi>{node.name}</bdi>
          ) : (
            <ServerLink id={node.instance.id} name={node.name} inherit underline="always" />
          )}
        </Text>
        <Text size="xs" c="dimmed">
          {[
            here && "this server",
            node.role && roleNames[node.role],
            edge?.kind === "logical" && "logical",
            edge?.group,
            !node.instance && "not monitored",
          ]
            .filter(Boolean)
            .join(" · ")}
        </Text>
        {edge && (
          <>
            <Text size="sm" fw={500} data-behind>
              {behind(edge)}
            </Text>
            <How
              of={edge}
              word={
                edge.condition === "works"
                  ? [edge.state, edge.sync].filter(Boolean).join(" · ").toLowerCase() || "works"
                  : undefined
              }
            />
          </>
        )}
        {!edge && node.condition !== "works" && <How of={node} />}
      </div>
      {children.length + idle.length > 0 && (
        <ul className={classes.followers}>
          {children.map((child) => (
            <Tree branch={child} instanceId={instanceId} slots={slots} key={keyOf(child)} />
          ))}
          {idle.map((s) => (
            <li className={classes.branch} data-condition={s.condition} key={s.name}>
              <div className={classes.node} data-condition={s.condition} data-slot>
                <Text size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>
                  <bdi>{s.name}</bdi>
                </Text>
                <Text size="xs" c="dimmed">
                  {s.kind} slot
                </Text>
                <Text size="sm" fw={500}>
                  {heldBack(s)}
                </Text>
                <How of={s} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** Lag is how far the server, or whoever is furthest behind it, was behind. */
function Lag({ known: { history, role, unavailable } }: { known: Known }) {
  const { window, setCustom } = useScope();
  const title = role === "standby" ? "Lag" : "Lag of the standby furthest behind";
  if (!history || history.lagSeconds.every((v) => v === null)) {
    return (
      <>
        <Title order={3} mb="xs">
          {title}
        </Title>
        <Text size="sm" c="dimmed">
          {unavailable.find(({ figure }) => figure === "history")?.sentence ?? "No lag was measured in this window."}
        </Text>
      </>
    );
  }
  const series: ChartSeries[] = [{ key: "lag", label: "Lag", color: palette.io, values: history.lagSeconds }];
  return (
    <>
      <Title order={3} mb="xs">
        {title}
      </Title>
      <TimeSeriesChart
        title={title}
        group="instance"
        window={window}
        bucketSize={history.bucketSize}
        bucketStarts={history.bucketStarts}
        lastBucketPartial={history.lastBucketPartial}
        generatedAt={history.to}
        series={series}
        format={seconds}
        onZoom={setCustom}
        height={160}
      />
    </>
  );
}

function Slots({ known: { slots } }: { known: Known }) {
  if (slots.length === 0) return null;
  return (
    <div className={classes.part}>
      <Title order={3} mb="xs">
        Replication slots
      </Title>
      <Table.ScrollContainer type="native" minWidth={560} tabIndex={0} role="region" aria-label="Replication slots">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Slot</Table.Th>
              <Table.Th>Kind</Table.Th>
              <Table.Th ta="right">Holds back</Table.Th>
              <Table.Th>WAL</Table.Th>
              <Table.Th>Consumer</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {slots.map((s) => (
              <Table.Tr key={s.name}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  <bdi>{s.name}</bdi>
                </Table.Td>
                <Table.Td>
                  {s.kind}
                  {s.database && (
                    <Text size="xs" c="dimmed">
                      <bdi>{[s.database, s.plugin].filter(Boolean).join(" · ")}</bdi>
                    </Text>
                  )}
                </Table.Td>
                <Table.Td ta="right" className="numbers">
                  {s.retainedBytes === null ? "–" : bytes(s.retainedBytes)}
                </Table.Td>
                <Table.Td>
                  {s.walStatus ?? "–"}
                  <Text size="xs" c="dimmed">
                    {lostAfter(s)}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <How of={s} word={s.active ? "connected" : undefined} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </div>
  );
}

function Subscriptions({ known: { subscriptions } }: { known: Known }) {
  if (subscriptions.length === 0) return null;
  return (
    <div className={classes.part}>
      <Title order={3} mb="xs">
        Subscriptions
      </Title>
      <ul className={classes.list}>
        {subscriptions.map((s) => (
          <li key={`${s.database} ${s.name}`}>
            <Text size="sm" span>
              <bdi>{s.name}</bdi>
              {s.database && (
                <>
                  {" in "}
                  <bdi>{s.database}</bdi>
                </>
              )}{" "}
            </Text>
            <How of={s} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Failovers are the last changes of roles among the servers that are drawn. */
function Failovers({ known: { roleChanges: changes } }: { known: Known }) {
  if (!changes || changes.length === 0) return null;
  return (
    <div className={classes.part}>
      <Title order={3} mb="xs">
        Changes of roles
      </Title>
      <ul className={classes.list}>
        {changes.slice(0, 5).map((c) => (
          <li key={`${c.instance.id} ${c.at}`}>
            <Text size="sm">
              <Time at={c.at} />: <ServerLink id={c.instance.id} name={c.instance.name} inherit underline="always" />{" "}
              {c.from === c.to
                ? `is another server, also ${roleNames[c.to]}`
                : `changed from ${roleNames[c.from]} to ${roleNames[c.to]}`}
              {c.timeline !== null && ` (timeline ${c.timeline})`}
            </Text>
          </li>
        ))}
      </ul>
    </div>
  );
}
