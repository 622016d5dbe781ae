import { Group, Paper, Stack, Table, Text, UnstyledButton } from "@mantine/core";
import { latency } from "../dashboard/units";
import { engineName } from "../engines";
import { OnlyServer } from "../instances/OnlyServer";
import { shortTime } from "../ui/format";
import { SortHead } from "../ui/SortHead";
import { Changed } from "./Changed";
import { milliseconds, Share, wholeNumber } from "./figures";
import { type Column, type Sort, type Statement, type StatementsSearch, slowest, unknownBefore } from "./query";
import { StatementLink } from "./StatementLink";
import classes from "./statements.module.css";

export type Change = (next: Partial<StatementsSearch>, how?: { replace?: boolean }) => void;

type Rows = {
  statements: Statement[];
  /** Where the window before begins; null where that is not kept. */
  previousFrom: string | null;
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

/** StatementTable has what statements cost in the window, and under each figure what it was in the one before. */
export function StatementTable({ sort, onSort, ...rows }: Rows & { sort: Sort; onSort: (sort: Sort) => void }) {
  return (
    <Paper withBorder>
      <Table.ScrollContainer minWidth={820} type="native" tabIndex={0} role="region" aria-label="Statements">
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
              {columns.map(({ column, name }) => (
                <SortHead key={column} name={name} first={`-${column}`} sort={sort} right onSort={onSort} />
              ))}
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
                  <Before statement={s} value={s.previous && latency(s.previous.totalMs)} {...rows} />
                  <Share share={s.share} />
                </Table.Td>
                <Table.Td className={classes.number}>
                  {wholeNumber(s.calls)}
                  <Before statement={s} value={s.previous && wholeNumber(s.previous.calls)} {...rows} />
                </Table.Td>
                <Table.Td className={classes.number}>
                  {milliseconds(s.meanMs)}
                  <Before statement={s} value={s.previous && latency(s.previous.meanMs)} {...rows} />
                </Table.Td>
                <Table.Td className={classes.number}>{milliseconds(slowest(s))}</Table.Td>
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
                ["Calls", wholeNumber(s.calls), s.previous && wholeNumber(s.previous.calls)],
                ["Mean", milliseconds(s.meanMs), s.previous && latency(s.previous.meanMs)],
              ] as const
            ).map(([name, value, before]) => (
              <div key={name}>
                <Text size="xs" c="dimmed">
                  {name}
                </Text>
                <Text size="sm" className="numbers" component="div">
                  {value}
                  <Before statement={s} value={before} {...rows} />
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

type BeforeProps = { statement: Statement; value: string | null; previousFrom: string | null };

/** Before is what a figure was in the window before, if that is kept, and its instance was watched then. */
function Before({ statement, value, previousFrom }: BeforeProps) {
  if (previousFrom === null) return null;
  const since = unknownBefore(statement, previousFrom);
  return (
    <span className={classes.before}>
      {value !== null ? `before ${value}` : since === null ? "not before" : `watched since ${shortTime(since)}`}
    </span>
  );
}

function Name({ statement: s, list }: { statement: Statement; list: StatementsSearch }) {
  return (
    <>
      <StatementLink statement={s} list={list} />
      <Changed statement={s} mt={4} />
    </>
  );
}

/** Where is the server and the database, which narrow the list to themselves. */
function Where({ statement: { instance, database }, change }: { statement: Statement; change: Change }) {
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
      <OnlyServer instance={instance} onChoose={(id) => change({ instanceId: [id], databaseId: undefined })} />
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
