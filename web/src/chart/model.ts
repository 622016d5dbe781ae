import { type BucketSize, bucketLengths } from "../window/window";
import type { ChartSeries, Values } from "./types";

/** Model is what a chart draws and reads out, in milliseconds since 1970 and in columns of one length. */
export type Model = {
  from: number;
  to: number;
  bucketSize: BucketSize;
  starts: number[];
  ends: number[];
  /** Where a bucket's value is drawn: the middle of its part inside the window. */
  xs: number[];
  series: readonly ChartSeries[];
  /** Heights, one column a series: its values, or what is stacked up to it; a hidden one is null throughout. */
  drawn: Values[];
  /** Sums of the shown series, for stacks; null where none of them has data. */
  totals: Values | null;
  hidden: ReadonlySet<string>;
  partial: boolean;
  generatedAt: number;
  /** The bucket that is read out where there is no cursor: the last with a value; -1 without buckets. */
  idle: number;
  /** The greatest height, 0 without data. */
  top: number;
  /** All values are whole numbers: so are the ticks. */
  whole: boolean;
};

type Source = {
  window: { from: string; to: string };
  bucketSize: BucketSize;
  bucketStarts: readonly string[];
  lastBucketPartial: boolean;
  generatedAt: string;
  series: readonly ChartSeries[];
  stacked: boolean;
  hidden: ReadonlySet<string>;
};

/** modelOf prepares a chart's figures once an answer, so that moving the mouse computes nothing. */
export function modelOf(source: Source): Model {
  const from = Date.parse(source.window.from);
  const to = Date.parse(source.window.to);
  const length = bucketLengths[source.bucketSize];
  const starts = source.bucketStarts.map((start) => Date.parse(start));
  const ends = starts.map((start) => start + length);
  const shown = source.series.filter((s) => !source.hidden.has(s.key));
  const n = starts.length;
  const own = source.series.map((s) => (source.hidden.has(s.key) ? nothing(n) : column(s.values, n)));
  const sums = source.stacked ? stack(own) : own;
  return {
    from,
    to,
    bucketSize: source.bucketSize,
    starts,
    ends,
    xs: starts.map((start, i) => middle(start, ends[i] ?? start, from, to)),
    series: source.series,
    drawn: sums,
    totals: source.stacked ? totalsOf(own, n) : null,
    hidden: source.hidden,
    partial: source.lastBucketPartial && n > 0,
    generatedAt: Date.parse(source.generatedAt),
    idle: lastWithValue(shown, n),
    top: greatest(sums),
    whole: shown.every((s) => s.values.every((v) => v === null || Number.isInteger(v))),
  };
}

const nothing = (n: number): Values => new Array<null>(n).fill(null);

const column = (values: Values, n: number): Values =>
  values.length === n ? values : Array.from({ length: n }, (_, i) => values[i] ?? null);

function middle(start: number, end: number, from: number, to: number): number {
  // A bucket outside the window (of an answer about the one before) stays outside.
  if (end <= from || start >= to) return (start + end) / 2;
  return (Math.max(start, from) + Math.min(end, to)) / 2;
}

/** stack puts columns upon each other. A null adds nothing to those above it and is itself a gap. */
export function stack(columns: readonly Values[]): Values[] {
  const height = new Array<number>(columns[0]?.length ?? 0).fill(0);
  return columns.map((values) =>
    values.map((value, i) => {
      if (value === null) return null;
      const sum = (height[i] ?? 0) + value;
      height[i] = sum;
      return sum;
    }),
  );
}

function totalsOf(columns: readonly Values[], n: number): Values {
  return Array.from({ length: n }, (_, i) =>
    columns.reduce<number | null>((sum, values) => {
      const value = values[i] ?? null;
      return value === null ? sum : (sum ?? 0) + value;
    }, null),
  );
}

function lastWithValue(series: readonly ChartSeries[], n: number): number {
  for (let i = n - 1; i >= 0; i--) {
    if (series.some((s) => (s.values[i] ?? null) !== null)) return i;
  }
  return n - 1;
}

function greatest(columns: readonly Values[]): number {
  let top = 0;
  for (const values of columns) {
    for (const value of values) {
      if (value !== null && value > top) top = value;
    }
  }
  return top;
}

/** bucketAt is the index of the bucket that holds an instant, null where none does; the window's end is in the last. */
export function bucketAt(model: Pick<Model, "starts" | "ends" | "to">, time: number): number | null {
  const { starts, ends, to } = model;
  let low = 0;
  let high = starts.length - 1;
  if (high < 0 || time < (starts[0] ?? 0)) return null;
  while (low < high) {
    const half = (low + high + 1) >> 1;
    if ((starts[half] ?? 0) <= time) low = half;
    else high = half - 1;
  }
  const end = ends[low] ?? 0;
  return time < end || (time === end && end === to) ? low : null;
}

/** lonely are the indices of values between gaps: no line leads to them, so they are drawn as points. */
export function lonely(values: Values, upTo: number): number[] {
  const found: number[] = [];
  for (let i = 0; i <= upTo; i++) {
    if ((values[i] ?? null) === null) continue;
    if ((values[i - 1] ?? null) === null && (i === upTo || (values[i + 1] ?? null) === null)) found.push(i);
  }
  return found;
}

/** ticksOf divides a y axis in at most four steps of 1, 2, 2.5 or 5 times a power of ten; whole numbers stay whole. */
export function ticksOf(
  top: number,
  whole: boolean,
  range?: readonly [number, number],
): { min: number; max: number; ticks: number[] } {
  const min = range?.[0] ?? 0;
  const span = (range?.[1] ?? (top > 0 ? top : 1)) - min;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const sizes = [1, 2, 2.5, 5, 10].map((n) => n * power);
  const step = sizes.find((n) => span / n <= 4.0001 && (!whole || Number.isInteger(n))) ?? Math.max(1, 10 * power);
  const steps = Math.ceil(span / step - 1e-9);
  const ticks = Array.from({ length: steps + 1 }, (_, i) => Number((min + i * step).toPrecision(12)));
  const last = ticks[ticks.length - 1] ?? min;
  if (range) return { min, max: range[1], ticks: ticks.filter((t) => t <= range[1]) };
  // A line along the upper edge would lose half its width.
  return { min, max: Math.max(last, top * 1.04), ticks };
}
