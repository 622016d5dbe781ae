import { Table } from "@mantine/core";
import { useContext, useMemo, useState } from "react";
import { changeText } from "../changes/flags";
import { Pager } from "../ui/Pager";
import { bucketLengths } from "../window/window";
import { ChangesContext } from "./changes";
import { noData, totalName } from "./readout";
import { bucketLabel, partialText } from "./times";
import { type ChartProps, withBefore } from "./types";

const size = 100;
const noneHidden: ReadonlySet<string> = new Set();

/**
 * SeriesTable is a chart's numbers as a table, the latest bucket first, a hundred on a page. It takes the
 * chart's props, and of them the figures alone; no data is said in words. Hidden series have their column; a
 * total is the chart's, without them. What changed on the servers has a column.
 */
export function SeriesTable(props: ChartProps) {
  const { title, bucketStarts, bucketSize, series, format, hidden = noneHidden } = props;
  const stacked = props.stacked && series.some((s) => !hidden.has(s.key));
  const columns = withBefore(series);
  const [from, to] = [Date.parse(props.window.from), Date.parse(props.window.to)];
  const [page, setPage] = useState(1);
  const total = bucketStarts.length;
  const pages = Math.max(1, Math.ceil(total / size));
  const number = Math.min(page, pages);
  const rows = useMemo(() => {
    const newest = total - 1 - (number - 1) * size;
    return Array.from({ length: Math.max(0, Math.min(size, newest + 1)) }, (_, i) => newest - i);
  }, [total, number]);
  const changes = useContext(ChangesContext)?.all.filter(({ at }) => at >= from && at < to) ?? [];
  const changed = (start: number) =>
    changes.filter(({ at }) => at >= start && at < start + bucketLengths[bucketSize]).map(changeText);
  const say = (value: number | null | undefined) => (value === null || value === undefined ? noData : format(value));
  return (
    <>
      <Table.ScrollContainer
        minWidth={Math.min(640, 200 + 100 * columns.length)}
        maxHeight={props.height ?? 200}
        type="native"
        tabIndex={0}
        role="region"
        aria-label={`${title}, as a table`}
      >
        <Table stickyHeader striped verticalSpacing={4} fz="xs" className="numbers">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Time</Table.Th>
              {columns.map((s) => (
                <Table.Th key={s.key} scope="col" ta="right">
                  {s.label}
                </Table.Th>
              ))}
              {stacked && (
                <Table.Th scope="col" ta="right">
                  {totalName(series, hidden)}
                </Table.Th>
              )}
              {changes.length > 0 && <Table.Th scope="col">Changes</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((i) => (
              <Table.Tr key={bucketStarts[i]}>
                <Table.Th scope="row" fw={400}>
                  <TimeCell {...props} index={i} start={Date.parse(bucketStarts[i] ?? "")} size={bucketSize} />
                </Table.Th>
                {columns.map((s) => (
                  <Table.Td key={s.key} ta="right">
                    {say(s.values[i])}
                  </Table.Td>
                ))}
                {stacked && <Table.Td ta="right">{say(totalAt(props, i))}</Table.Td>}
                {changes.length > 0 && <Table.Td>{changed(Date.parse(bucketStarts[i] ?? "")).join("; ")}</Table.Td>}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Pager
        page={{ number, size, totalItems: total, totalPages: pages }}
        onTurn={setPage}
        what="buckets, latest first"
      />
    </>
  );
}

function TimeCell(props: ChartProps & { index: number; start: number; size: ChartProps["bucketSize"] }) {
  const { index, start, size: length, lastBucketPartial, generatedAt, bucketStarts } = props;
  const partial = lastBucketPartial && index === bucketStarts.length - 1;
  return (
    <time dateTime={bucketStarts[index]}>
      {bucketLabel(start, length)}
      {partial && `, ${partialText(start, Date.parse(generatedAt), length)}`}
    </time>
  );
}

/** totalAt is the sum of a bucket's values of the shown series, null where none of them has one. */
function totalAt({ series, hidden = noneHidden }: ChartProps, index: number): number | null {
  const values = series.flatMap((s) => (hidden.has(s.key) ? [] : (s.values[index] ?? [])));
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}
