import { Anchor, Group, Paper, SimpleGrid, Stack, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { engineName } from "../engines";
import { OwnerCell, OwnerChip, OwnerHead, OwnerWithin } from "../teams/OwnerChip";
import { count, duration, plural, seconds } from "../ui/format";
import { NotKnown } from "../ui/NotKnown";
import { useNarrow } from "../ui/narrow";
import { SelectAll, SelectRow } from "../ui/Selecting";
import { SortHead } from "../ui/SortHead";
import { columnOf } from "../ui/sorting";
import { Time } from "../ui/Time";
import type { Selection } from "../ui/useSelection";
import classes from "./list.module.css";
import { moved, ScoreLine } from "./ScoreLine";
import { type By, first, type Sort } from "./sorting";
import { type Instance, Standing } from "./standing";
import { TagChips } from "./Tags";

type Rows = {
  items: Instance[];
  /** Without it nothing can be selected. */
  selection?: Selection;
};
type Order = { sort: Sort; onSort: (sort: Sort) => void };

/** InstanceList is a page of servers: a table, and on a phone a card each. */
export function InstanceList({ items, selection, ...order }: Rows & Order) {
  const narrow = useNarrow();
  if (!narrow) return <Wide items={items} selection={selection} {...order} />;
  return (
    <Stack gap="sm" px="md" pb="md">
      {selection && <SelectAll rows={items} what="instances" selection={selection} label="Select all on this page" />}
      <Cards items={items} selection={selection} watched={sortedBy(order.sort)} />
    </Stack>
  );
}

function Cards({ items, selection, watched }: Rows & { watched: Watched | undefined }) {
  return items.map((i) => (
    <Paper key={i.id} withBorder p="sm" component="article" aria-label={i.name}>
      <Group justify="space-between" gap="xs" align="flex-start">
        <Group gap="xs" wrap="nowrap">
          {selection && <SelectRow row={i} name={i.name} selection={selection} />}
          <Name instance={i} />
        </Group>
        <Standing instance={i} />
      </Group>
      <Text size="xs" c="dimmed">
        {[engineName(i.engine), i.version, i.host, plural(i.databaseCount, "database")].filter(Boolean).join(" · ")}
      </Text>
      <Wants instance={i} />
      <TagChips tags={i.tags} label={`Tags of ${i.name}`} />
      <Text size="xs" mt={4} component="div">
        <OwnerChip owner={i.owner} />
      </Text>
      <Group justify="space-between" gap="xs" mt="xs" wrap="nowrap" align="flex-start">
        <div>
          <Text size="xs" c="dimmed">
            Alerts
          </Text>
          <Alerts health={i.health} />
        </div>
        <div>
          <Text size="xs" c="dimmed">
            Score
          </Text>
          <Score health={i.health} />
        </div>
        {watched && (
          <div>
            <Text size="xs" c="dimmed">
              {watched.name}
            </Text>
            <Text size="sm" component="div" className="numbers">
              {watched.of(i) ?? <NotKnown />}
            </Text>
          </div>
        )}
      </Group>
      <SimpleGrid cols={3} spacing="sm" mt="xs" style={{ alignItems: "end" }}>
        {levels.map(({ name, of, ...from }) => (
          <div key={name}>
            <Text size="xs" c="dimmed">
              {name} <span style={{ whiteSpace: "nowrap" }}>{period}</span>
            </Text>
            <Level value={of(i)} old={hostIsOld(i)} {...from} />
          </div>
        ))}
      </SimpleGrid>
    </Paper>
  ));
}

function Name({ instance: i }: { instance: Instance }) {
  return (
    <Anchor
      renderRoot={(props) => <Link to="/instances/$instanceId" params={{ instanceId: i.id }} {...props} />}
      fw={600}
      size="sm"
      style={{ overflowWrap: "anywhere" }}
    >
      {i.name}
    </Anchor>
  );
}

function Wide({ items, selection, ...order }: Rows & Order) {
  const watched = sortedBy(order.sort);
  return (
    <Table.ScrollContainer type="native" minWidth={1020} tabIndex={0} role="region" aria-label="Instances">
      <Table verticalSpacing={4} horizontalSpacing="xs" highlightOnHover className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            {selection && (
              <Table.Th scope="col" w={30} pe={0}>
                <SelectAll rows={items} what="instances" selection={selection} />
              </Table.Th>
            )}
            <SortHead name="Name" first={first.name} {...order} />
            <OwnerHead crowded {...order} />
            <Table.Th scope="col">Engine</Table.Th>
            <Table.Th scope="col">State</Table.Th>
            <SortHead name="Score" first={first.score} {...order} />
            <SortHead name="Alerts" first={first.alerts} right {...order} />
            <SortHead name="CPU" note={period} first={first.cpu} right {...order} />
            {watched ? (
              <SortHead name={watched.name} first={first[watched.by]} right {...order} />
            ) : (
              <SortHead name="Memory" note={period} right {...order} />
            )}
            <SortHead name="Disk" note={period} first={first.disk} right {...order} />
            <SortHead name="Connections" first={first.connections} right {...order} />
            <SortHead name="Last seen" first={first.lastSeenAt} {...order} />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((i) => (
            <Table.Tr key={i.id} data-status={i.status}>
              {selection && (
                <Table.Td pe={0}>
                  <SelectRow row={i} name={i.name} selection={selection} />
                </Table.Td>
              )}
              <Table.Td miw={184} maw={240}>
                <div className={classes.line}>
                  <Name instance={i} />
                  <Text size="xs" c="dimmed" span className={classes.rest} title={i.host ?? undefined}>
                    {i.host}
                  </Text>
                </div>
                <TagChips tags={i.tags} label={`Tags of ${i.name}`} />
              </Table.Td>
              <OwnerCell crowded owner={i.owner} />
              <Table.Td style={{ whiteSpace: "nowrap" }}>
                {engineName(i.engine)}{" "}
                <Text size="xs" c="dimmed" span className="numbers">
                  {i.version}
                </Text>
                <OwnerWithin crowded owner={i.owner} />
              </Table.Td>
              <Table.Td maw={160}>
                <Standing instance={i} />
                <Wants instance={i} className={classes.rest} />
              </Table.Td>
              <Table.Td>
                <Score health={i.health} />
              </Table.Td>
              <Table.Td ta="right" className="numbers">
                <Alerts health={i.health} />
              </Table.Td>
              {levels.map(({ name, of, ...from }) => (
                <Table.Td key={name} ta="right" className="numbers">
                  {watched && name === "Memory" ? (
                    (watched.of(i) ?? <NotKnown />)
                  ) : (
                    <Level value={of(i)} old={hostIsOld(i)} {...from} />
                  )}
                </Table.Td>
              ))}
              <Table.Td ta="right" className="numbers">
                {i.health && i.health.connections !== null ? count(i.health.connections) : <NotKnown />}
              </Table.Td>
              <Table.Td style={{ whiteSpace: "nowrap" }}>
                {i.lastSeenAt ? <Time at={i.lastSeenAt} relative /> : "never"}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

type Faring = { health: Instance["health"] };

function Score({ health: h }: Faring) {
  if (!h || h.score === null) return <NotKnown />;
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" fw={600} span className="numbers">
        {h.score}
      </Text>
      {h.scoreHistory && (
        <>
          <ScoreLine scores={h.scoreHistory} width={44} />
          <Text size="xs" c="dimmed" span className="numbers">
            {moved(h.scoreHistory)}
          </Text>
        </>
      )}
    </Group>
  );
}

function Alerts({ health: h }: Faring) {
  if (!h || h.openAlerts === null) return <NotKnown />;
  const critical = h.criticalAlerts ?? 0;
  return (
    <Text size="sm" component="div" className="numbers" style={{ whiteSpace: "nowrap" }}>
      {critical < h.openAlerts || critical === 0 ? count(h.openAlerts) : null}
      {critical > 0 && critical < h.openAlerts && ", "}
      {critical > 0 && (
        <Text size="xs" fw={600} c="var(--mantine-color-error)" span>
          {count(critical)} critical
        </Text>
      )}
    </Text>
  );
}

type Level = { of: (i: Instance) => number | null; warn: number; bad: number };

/** levels are how much of a host is in use, in percent, and from when on that is much and too much. */
const levels: (Level & { name: string })[] = [
  { name: "CPU", of: (i) => i.health?.cpuPercent ?? null, warn: 80, bad: 90 },
  { name: "Memory", of: (i) => i.health?.memoryPercent ?? null, warn: 85, bad: 95 },
  { name: "Disk", of: (i) => i.health?.diskPercent ?? null, warn: 80, bad: 90 },
];

/** Watched is a figure of a server that has a column only while the list is sorted by it: then in place of the memory. */
type Watched = { by: By; name: string; of: (i: Instance) => string | null };

const watchedFigures: Watched[] = [
  { by: "lag", name: "Lag", of: ({ health: h }) => (h && h.lagSeconds !== null ? seconds(h.lagSeconds) : null) },
  {
    by: "backup",
    name: "Backup age",
    of: ({ health: h }) => (h && h.backupAgeSeconds !== null ? duration(h.backupAgeSeconds * 1_000) : null),
  },
  {
    by: "full",
    name: "Full in",
    of: ({ health: h }) => (h && h.daysUntilFull !== null ? plural(Math.ceil(h.daysUntilFull), "day") : null),
  },
];

const sortedBy = (sort: Sort) => watchedFigures.find(({ by }) => by === columnOf(sort));

/** period is what these figures are of: the mean of so long, and of disks the fullest then. */
const period = "15 min";

/** hostIsOld says that nothing measures a server's host any more: its figures are of the minutes before. */
const hostIsOld = (i: Instance) => i.parts.some((p) => p.part === "host" && p.state !== "ok");

/** Level is a figure over its bar, whose colour says no more than the figure does: what is not known is no 0, and what is old is pale. */
function Level({ value, old, warn, bad }: Omit<Level, "of"> & { value: number | null; old: boolean }) {
  if (value === null) return <NotKnown />;
  const tone = value >= bad ? classes.bad : value >= warn ? classes.warning : "";
  return (
    <div className={old ? classes.old : undefined} title={old ? "Not measured any more" : undefined}>
      <Text
        size="sm"
        fw={value >= bad ? 600 : undefined}
        c={old ? "dimmed" : undefined}
        component="div"
        className="numbers"
        style={{ whiteSpace: "nowrap" }}
      >
        {Math.round(value)} %{old && <span className="visually-hidden"> not measured any more</span>}
      </Text>
      <div className={`${classes.level} ${tone}`} aria-hidden>
        <span style={{ width: `${Math.min(100, Math.max(1, value))}%` }} />
      </div>
    </div>
  );
}

/** Wants is what a server lacks: why it is not up, what its last assessment failed at, and grants. */
function Wants({ instance: i, className }: { instance: Instance; className?: string }) {
  const why = i.statusReason?.sentence ?? i.lastError;
  const grants = i.neededGrantCount > 0 && plural(i.neededGrantCount, "missing grant");
  if (!why && !grants) return null;
  return (
    <Text size="xs" c="dimmed" component="div" className={className} title={why ?? undefined}>
      {[why, grants].filter(Boolean).join(" · ")}
    </Text>
  );
}
