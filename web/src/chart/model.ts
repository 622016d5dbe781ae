import { type BucketSize, bucketLengths } from "../window/window";
import { linearAxis, logAxis } from "./axis";
import type { Band, ChartSeries, Values } from "./types";

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
  /**
   * Where each series is drawn, from 0 at the plot's base to 1 at its top: its values, or what is stacked up to them, on
   * the axis that fits all figures in view. A hidden series is null throughout.
   */
  drawn: Values[];
  /**
   * The window before, where it is compared with: a line for each shown series, or of a stack one of its totals (column
   * null), on the axes of the others.
   */
  before: { column: number | null; values: Values; line: Values }[];
  /** The labels of the y axis: what value is where. */
  ticks: { height: number; value: number }[];
  /** The bands that are there, and where each one's name stands; none is one band without a name. */
  bands: { label: string; top: number }[];
  /** How high a value stands that the figures are read against; null without one, or without figures. */
  level: number | null;
  /** Sums of the shown series, for stacks; null in it where none of them has data, and without any shown. */
  totals: Values | null;
  hidden: ReadonlySet<string>;
  partial: boolean;
  generatedAt: number;
  /** The bucket that is read out where there is no cursor: the last with a value; -1 without buckets. */
  idle: number;
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
  bands?: readonly Band[];
  upTo?: number;
  level?: number;
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
  const former = source.series.map((s) => (s.before && !source.hidden.has(s.key) ? column(s.before, n) : null));
  return {
    from,
    to,
    bucketSize: source.bucketSize,
    starts,
    ends,
    xs: starts.map((start, i) => middle(start, ends[i] ?? start, from, to)),
    series: source.series,
    ...heightsOf(source, sums, source.stacked ? totalBefore(former, n) : former),
    totals: source.stacked && shown.length > 0 ? totalsOf(own, n) : null,
    hidden: source.hidden,
    partial: source.lastBucketPartial && n > 0,
    generatedAt: Date.parse(source.generatedAt),
    idle: lastWithValue(shown, n),
  };
}

/** Of the plot's height, what the name of a band takes above it. */
const nameShare = 0.09;

/** totalBefore is the total of what of a stack is compared, in the place of its first series. */
function totalBefore(former: readonly (Values | null)[], n: number): (Values | null)[] {
  const there = former.filter((values) => values !== null);
  return there.length === 0 ? [] : [totalsOf(there, n)];
}

/**
 * heightsOf lays the bands that show something upon each other and puts each one's series on an axis of its own, with
 * what they are compared with.
 */
function heightsOf(
  { series, hidden, bands, upTo = 0, level, stacked }: Source,
  sums: Values[],
  former: readonly (Values | null)[],
): Pick<Model, "drawn" | "before" | "ticks" | "bands" | "level"> {
  const all: readonly Band[] = bands ?? [{ label: "", scale: "linear", series: series.map((s) => s.key) }];
  const there = all.filter((band) => band.series.some((key) => !hidden.has(key)));
  const drawn = [...sums];
  const before: Model["before"] = [];
  const ticks: Model["ticks"] = [];
  let at: number | null = null;
  const room = 1 / there.length;
  const size = room - (bands ? nameShare : 0);
  there.forEach((band, i) => {
    const base = 1 - (i + 1) * room;
    const of = series.flatMap((s, column) => (band.series.includes(s.key) ? [column] : []));
    const columns = of.map((column) => sums[column] ?? []);
    const compared = of.map((column) => former[column] ?? []);
    const inView = [...columns, ...compared];
    const axis = band.scale === "log" ? logAxis(inView) : linearAxis(inView, Math.max(upTo, level ?? 0));
    if (level !== undefined) at = axis.height(level);
    const place = (value: number | null) => (value === null ? null : base + axis.height(value) * size);
    ticks.push(...axis.ticks.map((value) => ({ height: base + axis.height(value) * size, value })));
    of.forEach((column, k) => {
      drawn[column] = (columns[k] ?? []).map(place);
      const values = compared[k] ?? [];
      if (values.length > 0) before.push({ column: stacked ? null : column, values, line: values.map(place) });
    });
  });
  const names = bands ? there.map(({ label }, i) => ({ label, top: 1 - i * room })) : [];
  // The canvas wants them from the base up.
  return {
    drawn,
    before,
    ticks: ticks.sort((a, b) => a.height - b.height),
    bands: names,
    level: ticks.length > 0 && !bands ? at : null,
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

const instants = (from: number, to: number): [string, string] => [
  new Date(from).toISOString(),
  new Date(to).toISOString(),
];

/** spanOf is the time of the buckets from one to another; a partial one ends with the window, not in the future. */
export function spanOf(model: Model, [first, last]: readonly [number, number]): [string, string] {
  const whole = model.ends[last] ?? model.to;
  const end = model.partial && last === model.starts.length - 1 ? Math.min(whole, model.to) : whole;
  return instants(model.starts[first] ?? model.from, end);
}

/** bucketSpan is the whole bucket, also one that is not over: its edges are those that its value is of. */
export function bucketSpan({ starts, ends, from, to }: Model, index: number): [string, string] {
  return instants(starts[index] ?? from, ends[index] ?? to);
}

/** placeOf is where a time is marked: not outside the window in which its bucket is; null where no bucket has it. */
export function placeOf(model: Model, time: number): number | null {
  return bucketAt(model, time) === null ? null : Math.min(model.to, Math.max(model.from, time));
}

/**
 * seriesAt is the key of the series meant by a click so high (0 at the base, 1 at the top) in a bucket: of stacks the area
 * there, else the nearest line. Above a stack, and where there are no values, it is none.
 */
export function seriesAt(model: Model, index: number, height: number): string | null {
  const there = model.series.flatMap((s, i) => {
    const at = model.drawn[i]?.[index] ?? null;
    return at === null ? [] : [{ key: s.key, at }];
  });
  if (model.totals) return there.find(({ at }) => height <= at)?.key ?? null;
  const off = ({ at }: { at: number }) => Math.abs(at - height);
  return there.sort((a, b) => off(a) - off(b))[0]?.key ?? null;
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
