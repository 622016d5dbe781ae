import { Anchor, Badge, Group, Paper, Stack, Table, Text, UnstyledButton } from "@mantine/core";
import { IconArrowsSort, IconSortAscending, IconSortDescending } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { latency, percent } from "../dashboard/units";
import { count, engineName } from "../ui/format";
import { useScope } from "../window/scope";
import {
  type Column,
  directionOf,
  isNew,
  type Sort,
  type Statement,
  type StatementsSearch,
  timesOf,
  turned,
} from "./query";
import classes from "./statements.module.css";
import { StatementName } from "./Texts";

export type Change = (next: Partial<StatementsSearch>, how?: { replace?: boolean }) => void;

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** The list from which a statement was opened, to go back to it as it was. */
    statements?: StatementsSearch;
  }
}

type Rows = {
  statements: Statement[];
  /** Where the window begins, and whether the one before is kept. */
  from: string;
  compared: boolean;
  list: StatementsSearch;
  busy: boolean;
  change: Change;
};

const columns: { column: Column; name: string }[] = [
  { column: "totalMs", name: "Time" },
  { column: "calls", name: "Calls" },
  { column: "meanMs", name: "Mean" },
  { column: "maxMs", name: "Slowest" },
];

const arrows = { ascending: IconSortAscending, descending: IconSortDescending, none: IconArrowsSort };
const ms = (value: number | null) => (value === null ? "–" : latency(value));
const calls = (value: number) => count(Math.round(value));

/** StatementTable has what statements cost in the window, and under each figure what it was in the one before. */
export function StatementTable({ sort, onSort, ...rows }: Rows & { sort: Sort; onSort: (sort: Sort) => void }) {
  return (
    <Paper withBorder>
      <Table.ScrollContainer
        minWidth={820}
        type="native"
        scrollAreaProps={{ tabIndex: 0, role: "region", "aria-label": "Statements" }}
      >
        <Table
          highlightOnHover
          verticalSpacing="sm"
          horizontalSpacing="sm"
          aria-busy={rows.busy}
          aria-label="Statements"
        >
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Statement</Table.Th>
              {columns.map(({ column, name }) => {
                const direction = directionOf(sort, column);
                const Arrow = arrows[direction];
                return (
                  <Table.Th key={column} scope="col" aria-sort={direction} ta="right">
                    <UnstyledButton onClick={() => onSort(turned(sort, column))} fz="sm" fw={700} mih={24}>
                      <Group gap={4} wrap="nowrap">
                        {name}
                        <Arrow size={14} aria-hidden opacity={direction === "none" ? 0.6 : 1} />
                      </Group>
                    </UnstyledButton>
                  </Table.Th>
                );
              })}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.statements.map((s) => (
              <Table.Tr key={s.id} data-statement={s.id} style={{ verticalAlign: "top" }}>
                <Table.Td w="50%">
                  <Name statement={s} {...rows} />
                  <Where statement={s} {...rows} />
                </Table.Td>
                <Table.Td className={classes.number} miw={120}>
                  {latency(s.totalMs)}
                  <Before value={s.previous && latency(s.previous.totalMs)} {...rows} />
                  <Share share={s.share} />
                </Table.Td>
                <Table.Td className={classes.number}>
                  {calls(s.calls)}
                  <Before value={s.previous && calls(s.previous.calls)} {...rows} />
                </Table.Td>
                <Table.Td className={classes.number}>
                  {ms(s.meanMs)}
                  <Before value={s.previous && latency(s.previous.meanMs)} {...rows} />
                </Table.Td>
                <Table.Td className={classes.number}>{ms(s.maxMs)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}

/** StatementCards is the same on a phone. */
export function StatementCards(rows: Rows) {
  return (
    <Stack gap="sm" aria-busy={rows.busy}>
      {rows.statements.map((s) => (
        <Paper key={s.id} withBorder p="sm" data-statement={s.id}>
          <Name statement={s} {...rows} />
          <Where statement={s} {...rows} />
          <Group justify="space-between" gap="xs" mt={6} align="flex-start">
            {(
              [
                ["Time", latency(s.totalMs), s.previous && latency(s.previous.totalMs)],
                ["Calls", calls(s.calls), s.previous && calls(s.previous.calls)],
                ["Mean", ms(s.meanMs), s.previous && latency(s.previous.meanMs)],
              ] as const
            ).map(([name, value, before]) => (
              <div key={name}>
                <Text size="xs" c="dimmed">
                  {name}
                </Text>
                <Text size="sm" className="numbers" component="div">
                  {value}
                  <Before value={before} {...rows} />
                </Text>
              </div>
            ))}
          </Group>
          <Share share={s.share} />
        </Paper>
      ))}
    </Stack>
  );
}

/** Before is what a figure was in the window before, if that is kept. */
function Before({ value, compared }: { value: string | null; compared: boolean }) {
  if (!compared) return null;
  return <span className={classes.before}>{value === null ? "not before" : `before ${value}`}</span>;
}

function Share({ share }: { share: number | null }) {
  if (share === null) return null;
  return (
    <>
      <div className={classes.bar} aria-hidden>
        <span style={{ width: `${Math.max(0.5, 100 * share)}%` }} />
      </div>
      <span className={classes.before}>{percent(100 * share)} of all</span>
    </>
  );
}

function Name({ statement: s, list, from }: { statement: Statement; list: StatementsSearch; from: string }) {
  const { search } = useScope();
  const times = timesOf(s);
  return (
    <>
      <Anchor
        component={Link}
        to="/statements/$statementId"
        params={{ statementId: s.id } as never}
        search={search as never}
        state={{ statements: list } as never}
        size="sm"
        fw={550}
        className={classes.name}
      >
        <StatementName id={s.id} text={s.text} />
      </Anchor>
      {(isNew(s.firstSeenAt, from) || (times !== null && times >= 2)) && (
        <Group gap={6} mt={4}>
          {isNew(s.firstSeenAt, from) && (
            <Badge size="sm" radius="sm" variant="default">
              New
            </Badge>
          )}
          {times !== null && times >= 2 && (
            <Badge size="sm" radius="sm" variant="default" tt="none">
              {times < 10 ? times.toFixed(1) : count(Math.round(times))} times slower
            </Badge>
          )}
        </Group>
      )}
    </>
  );
}

/** Where is the server and the database, which narrow the list to themselves. */
function Where({ statement: { instance, database }, change }: { statement: Statement; change: Change }) {
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
      {instance.removed ? (
        <>
          <bdi>{instance.name}</bdi> (removed)
        </>
      ) : (
        <UnstyledButton
          fz="xs"
          td="underline"
          mih={24}
          aria-label={`Only ${instance.name}`}
          onClick={() => change({ instanceId: [instance.id], databaseId: undefined })}
        >
          <bdi>{instance.name}</bdi>
        </UnstyledButton>
      )}
      {" · "}
      {instance.removed ? (
        <bdi>{database.name}</bdi>
      ) : (
        <UnstyledButton
          fz="xs"
          td="underline"
          mih={24}
          aria-label={`Only database ${database.name} of ${instance.name}`}
          onClick={() => change({ instanceId: [instance.id], databaseId: database.id })}
        >
          <bdi>{database.name}</bdi>
        </UnstyledButton>
      )}
      {" · "}
      {engineName(instance.engine)}
    </Text>
  );
}
