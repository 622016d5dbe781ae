import { NativeSelect, Paper, SegmentedControl, Skeleton, Stack, Table, Text } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, type Schemas } from "../api/client";
import { asProblem } from "../api/problem";
import { notKeptSince } from "../dashboard/contributors";
import { percent } from "../dashboard/units";
import { NoTexts } from "../statements/Texts";
import { EmptyState } from "../ui/EmptyState";
import { count, shortTime } from "../ui/format";
import { NotAvailable } from "../ui/NotAvailable";
import { useNarrow } from "../ui/narrow";
import { ProblemNote } from "../ui/ProblemNote";
import { useScope } from "../window/scope";
import classes from "./activity.module.css";
import { averageHeading, averageIn, ran, useRan, useWhole } from "./compared";
import { Name, type Narrow, Where } from "./Name";
import {
  type Answer,
  activityQuery,
  classColor,
  colorsOf,
  type Dimension,
  dimensionNames,
  listed,
  type Only,
  othersOf,
  partsOf,
  type Row,
  rowsOf,
} from "./query";

export type Asked = {
  asking: { from: string; to: string; bucketSize: Schemas["BucketSize"] };
  idle: boolean;
  picked: { from: string; to: string } | null;
  /** The window, where a bucket of it is picked. */
  whole: { from: string; to: string; bucketSize: Schemas["BucketSize"] } | null;
  /** What the page is narrowed to, and how a click narrows it more. */
  only: Only;
  onNarrow: Narrow;
};

/** useTop is the first of a dimension in a time. */
export function useTop(
  by: Dimension,
  { asking, idle, only }: Pick<Asked, "asking" | "idle" | "only">,
  limit: number,
  enabled = true,
) {
  const { servers, matchesNothing } = useScope();
  const asked = api.useQuery(
    "get",
    "/api/v1/activity",
    { params: { query: activityQuery(by, asking, { servers, only, idle, limit }) } },
    { enabled: enabled && !matchesNothing, placeholderData: keepPreviousData },
  );
  return { asked, data: asked.data?.by === by ? asked.data : undefined };
}

type Props = Asked & {
  by: Dimension;
  tabs: Dimension[];
  /** Stands in place of the rows, where there are none to ask for. */
  empty: ReactNode;
  /** The chart's answer, where it is by the same: rows have the color of their series. */
  colors: Answer | null;
  onBy: (by: Dimension) => void;
};

/** Top is the first ten of a dimension in the window, or in the bucket that was picked. */
export function Top({ by, tabs, empty, colors, onBy, ...time }: Props) {
  const narrow = useNarrow();
  const { asked, data } = useTop(by, time, listed, empty === null);
  const since = asked.isError ? notKeptSince(asProblem(asked.error).errors) : null;
  const { many } = dimensionNames[by];
  const total = data && data.items.length + data.others;
  return (
    <Paper withBorder component="section" aria-label={`Most active ${many}`} aria-busy={asked.isFetching} miw={0}>
      <div className={classes.tabs}>
        {narrow ? (
          <NativeSelect
            aria-label="Most active"
            size="sm"
            value={by}
            data={tabs.map((value) => ({ value, label: dimensionNames[value].tab }))}
            onChange={(event) => onBy(event.currentTarget.value as Dimension)}
          />
        ) : (
          <SegmentedControl
            aria-label="Most active"
            size="xs"
            value={by}
            data={tabs.map((value) => ({ value, label: dimensionNames[value].tab }))}
            onChange={(value) => onBy(value as Dimension)}
          />
        )}
        {total !== undefined && total > 0 && (
          <Text size="xs" c="dimmed" className="numbers">
            {count(total)} in this time
          </Text>
        )}
      </div>
      {empty ??
        (since !== null ? (
          <EmptyState title="Not kept for this time">Session activity is kept since {shortTime(since)}.</EmptyState>
        ) : (
          <>
            {asked.isError && (
              <div className={classes.pad}>
                <ProblemNote
                  error={asked.error}
                  title={data ? "Not up to date" : `The ${many} could not be loaded`}
                  onRetry={asked.refetch}
                />
              </div>
            )}
            {data ? (
              <>
                {data.unavailable.length > 0 && (
                  <div className={classes.pad}>
                    <NotAvailable missing={data.unavailable} />
                  </div>
                )}
                <Rows by={by} answer={data} colors={colors} {...time} />
              </>
            ) : (
              !asked.isError && (
                <Stack gap="xs" p="md" role="status" aria-label={`Loading ${many}`}>
                  {[1, 2, 3, 4, 5].map((n) => (
                    <Skeleton key={n} height={36} />
                  ))}
                </Stack>
              )
            )}
          </>
        ))}
    </Paper>
  );
}

/** colorOf is the color of a row's bar: of a wait its class's, else its series' where the chart is by the same. */
function colorOf(by: Dimension, { item }: Row, colors: Answer | null): string | undefined {
  if (by === "waitEvent" || by === "waitClass") return classColor(item.waitClass ?? "other");
  return colors ? colorsOf(colors)[item.key] : undefined;
}

/** Bar is how much of the first row's sessions a row has. */
export function Bar({ by, row, colors }: { by: Dimension; row: Row; colors: Answer | null }) {
  const parts = by === "waitEvent" || by === "waitClass" ? null : partsOf(row.item);
  const width = `${Math.max(1, 100 * row.length)}%`;
  return (
    <div className={classes.bar} aria-hidden>
      {parts ? (
        <span style={{ width }} data-parts>
          {parts.map(({ key, part, color }) => (
            <span key={key} data-class={key} style={{ width: `${100 * part}%`, background: color }} />
          ))}
        </span>
      ) : (
        <span style={{ width, background: colorOf(by, row, colors) }} />
      )}
    </div>
  );
}

type RowsProps = Asked & { by: Dimension; answer: Answer; colors: Answer | null };

/** Column is a figure of a row beside its average and its share. */
type Column = { heading: string; of: (row: Row) => string };

/** useColumns are how often a statement ran, and, in a bucket, what the average of the window is. */
function useColumns({ by, answer, whole, idle, only }: RowsProps): Column[] {
  const statements = useRan(answer);
  const average = useWhole(by, whole, { idle, only });
  const columns: Column[] = [];
  if (by === "statement") {
    const of = ({ item }: Row) => (statements && item.statement ? ran(statements, item.statement.id) : null);
    columns.push({ heading: "Calls/s", of: (row) => of(row)?.calls ?? "–" });
    columns.push({ heading: "Mean", of: (row) => of(row)?.mean ?? "–" });
  }
  if (whole) {
    columns.push({ heading: averageHeading(whole), of: ({ item }) => (average ? averageIn(average, item) : "–") });
  }
  return columns;
}

function Rows(props: RowsProps) {
  const { by, answer, colors, picked, onNarrow } = props;
  const narrow = useNarrow();
  const columns = useColumns(props);
  const rows = rowsOf(answer);
  const others = othersOf(answer);
  const { tab, one, many } = dimensionNames[by];
  if (answer.average === null) {
    return (
      <EmptyState title="No sessions were sampled in this time">
        {answer.incomplete ? "A database engine could not be read." : "How many were active is not known."}
      </EmptyState>
    );
  }
  if (rows.length === 0) return <EmptyState title="No session was active in this time" />;
  return (
    <>
      <Table className={classes.table} aria-label={`Most active ${many}`} verticalSpacing={6} horizontalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{tab}</Table.Th>
            {["Active", "Share", ...(narrow ? [] : columns.map(({ heading }) => heading))].map((heading) => (
              <Table.Th key={heading} scope="col" ta="right">
                {heading}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.item.key} data-top={row.item.key}>
              <Table.Td>
                <div className={classes.named}>
                  <Name by={by} row={row} picked={picked} onNarrow={onNarrow} />
                  <Where by={by} row={row} />
                  <Bar by={by} row={row} colors={colors} />
                </div>
                {narrow && <Below row={row} columns={columns} />}
              </Table.Td>
              <Table.Td className={classes.figure} data-average>
                {row.average}
              </Table.Td>
              <Table.Td className={classes.share}>{row.share === null ? "–" : percent(100 * row.share)}</Table.Td>
              {!narrow &&
                columns.map(({ heading, of }) => (
                  <Table.Td key={heading} className={classes.share} data-column={heading}>
                    {of(row)}
                  </Table.Td>
                ))}
            </Table.Tr>
          ))}
          {others && (
            <Table.Tr c="dimmed" data-others>
              <Table.Td>
                {count(others.count)} other {others.count === 1 ? one : many}
              </Table.Td>
              <Table.Td className={classes.figure}>{others.average}</Table.Td>
              <Table.Td className={classes.share}>{others.share === null ? "–" : percent(100 * others.share)}</Table.Td>
              {!narrow && columns.map(({ heading }) => <Table.Td key={heading} />)}
            </Table.Tr>
          )}
        </Table.Tbody>
      </Table>
      {by === "statement" && !rows.some(({ item }) => item.statement?.text) && (
        <div className={classes.pad}>
          <NoTexts mb={0} />
        </div>
      )}
    </>
  );
}

/** Below has the other figures of a row where there is no room for columns. */
function Below({ row, columns }: { row: Row; columns: Column[] }) {
  if (columns.length === 0) return null;
  return (
    <div className={`${classes.figures} numbers`}>
      {columns.map(({ heading, of }) => (
        <span key={heading}>
          {heading} {of(row)}
        </span>
      ))}
    </div>
  );
}
