import { cell, field } from "../ui/csv";
import type { ChartSeries } from "./types";

/**
 * toCSV is the numbers of a chart as RFC 4180 has them (lines end in CRLF): a line a bucket, its start
 * in RFC 3339, then a column a series. No data is an empty field; 0 is 0.
 */
export function toCSV({
  bucketStarts,
  series,
}: {
  bucketStarts: string[];
  series: Pick<ChartSeries, "label" | "values">[];
}): string {
  const head = ["bucketStart", ...series.map((s) => field(cell(s.label)))].join(",");
  const lines = bucketStarts.map((start, i) => [start, ...series.map((s) => s.values[i] ?? "")].join(","));
  return [head, ...lines, ""].join("\r\n");
}
