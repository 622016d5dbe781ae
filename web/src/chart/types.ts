import type { BucketSize } from "../window/window";

/** Values is one number a bucket; null is "no data" and leaves a gap, 0 is a value. */
export type Values = readonly (number | null)[];

export type ChartSeries = {
  key: string;
  label: string;
  /** A CSS colour that suits both schemes, as one of `seriesColors`. */
  color: string;
  values: (number | null)[];
  /** Its values in the window before, each in the place of the bucket that it is compared with; without it none are. */
  before?: Values;
  /** What it counts, where its label does not tell. */
  hint?: string;
};

/** withBefore is the series with those of the window before as series of their own, each behind its own. */
export const withBefore = (series: readonly ChartSeries[]): Pick<ChartSeries, "key" | "label" | "values">[] =>
  series.flatMap(({ key, label, values, before }) => [
    { key, label, values },
    ...(before ? [{ key: `${key} before`, label: `${label}, before`, values: [...before] }] : []),
  ]);

/**
 * Band is a part of the plot with a y axis of its own, above those that come after it; the x axis is everybody's. For
 * series that would be flat beside others. It goes, and leaves its room to the rest, while all its series are hidden.
 */
export type Band = { label: string; scale: "linear" | "log"; series: readonly string[] };

/** Level is a value worth a horizontal line: "16 cores". */
export type Level = { value: number; label: string };

/** Marker is an instant worth a vertical line: "monitoring started 19 Nov 06:12". */
export type Marker = { at: string; label: string };

/** Mark is an instant of many, a short line at which nothing is written: its colour says how bad, hollow that it is over. */
export type Mark = { at: number; tone: string; hollow: boolean; label: string };

/** Marks are a chart's, and what they come to in words. One object for as long as they are the same. */
export type Marks = { marks: readonly Mark[]; label: string };

/** Picked is a bucket that was clicked, as RFC 3339, and the series that was meant; null is none of them, or all. */
export type Picked = { from: string; to: string; series: string | null };

export type ChartProps = {
  /** The accessible name. */
  title: string;
  /** Charts of one group share the position of the cursor. */
  group: string;
  /** What the x axis spans, whatever the data. */
  window: { from: string; to: string };
  bucketSize: BucketSize;
  /** RFC 3339, ascending, of the grid: the first may lie before the window. */
  bucketStarts: string[];
  /** The last bucket ends after now: it is drawn dashed and hatched. */
  lastBucketPartial: boolean;
  /** When the figures were read: how much of the last bucket there is. */
  generatedAt: string;
  series: ChartSeries[];
  /** Areas upon each other, the first at the bottom, with their total. */
  stacked?: boolean;
  /** A value as it is read: "41.2 %". */
  format: (value: number) => string;
  /** What the y axis reaches at least; without it, what fits. It begins at 0. */
  upTo?: number;
  /** One array for as long as they are the same; without it all series share one linear axis. */
  bands?: readonly Band[];
  /** The series that are not drawn. They take no part in axis and total. */
  hidden?: ReadonlySet<string>;
  /** A series of the legend was pressed; without it nothing can be hidden. */
  onToggle?: (key: string) => void;
  /** A line across at a value that the figures are read against, with what it is; the axis reaches it. Not with bands. */
  level?: Level | null;
  markers?: Marker[];
  marks?: Marks | null;
  /** Told the whole buckets that were dragged over, as RFC 3339; without it nothing can be dragged. */
  onZoom?: (from: string, to: string) => void;
  /** Told which bucket was clicked, or of the cursor chosen by Enter; without it nothing can be picked. */
  onPick?: (picked: Picked) => void;
  /** The instant in the middle of what is picked, which is marked. */
  pickedAt?: number | null;
  /** Of the plot with its axes, in CSS pixels; the legend comes on top. */
  height?: number;
};
