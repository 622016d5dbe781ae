// The window before, beside this one: each bucket with the one that it is compared with.
import type { ChartSeries } from "../chart/types";
import { type BucketSize, bucketLengths } from "../window/window";

type Buckets = { bucketSize: BucketSize; bucketStarts: readonly string[] };
type Drawn = { buckets: Buckets; series: readonly ChartSeries[] };

/**
 * beside puts the values of the window before into the places of the buckets so many milliseconds later. Buckets of
 * another length are compared with nothing, and a bucket that was not read is a gap.
 */
export function beside<S extends ChartSeries>(
  series: S[],
  { bucketSize, bucketStarts }: Buckets,
  before: Drawn,
  distance: number,
): S[] {
  const first = Date.parse(before.buckets.bucketStarts[0] ?? "");
  if (before.buckets.bucketSize !== bucketSize || Number.isNaN(first)) return series;
  const places = bucketStarts.map((start) => (Date.parse(start) - distance - first) / bucketLengths[bucketSize]);
  const values = new Map(before.series.map((s) => [s.key, s.values]));
  return series.map((s) => ({ ...s, before: places.map((place) => values.get(s.key)?.[place] ?? null) }));
}
