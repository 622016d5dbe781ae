import { expect, test } from "vitest";
import type { ChartSeries } from "../chart/types";
import { beside } from "./before";

const hour = 3_600_000;
const starts = (...hours: number[]) => hours.map((h) => new Date(Date.UTC(2026, 10, 20, h)).toISOString());
const series = (values: (number | null)[]): ChartSeries[] => [{ key: "cpu", label: "CPU", color: "blue", values }];
const compared = (before: string[], values: (number | null)[], size: "1h" | "1m" = "1h") =>
  beside(
    series([1, 2, 3]),
    { bucketSize: "1h", bucketStarts: starts(12, 13, 14) },
    { buckets: { bucketSize: size, bucketStarts: before }, series: series(values) },
    3 * hour,
  )[0]?.before;

test("each bucket is compared with the one a window earlier", () => {
  expect(compared(starts(9, 10, 11), [7, null, 9])).toEqual([7, null, 9]);
});

test("an answer about another time fills the common buckets, and the rest is a gap", () => {
  expect(compared(starts(10, 11, 12), [8, 9, 10])).toEqual([null, 8, 9]);
  expect(compared(starts(6, 7, 8), [4, 5, 6])).toEqual([null, null, null]);
});

test("buckets of another length, or none, are compared with nothing", () => {
  expect(compared(starts(9, 10, 11), [7, 8, 9], "1m")).toBeUndefined();
  expect(compared([], [])).toBeUndefined();
});
