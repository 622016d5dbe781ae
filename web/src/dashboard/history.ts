import type { Schemas } from "../api/client";
import { shortTime } from "../ui/format";
import { bucketLengths } from "../window/window";

type History = Schemas["AlertHistory"];
type Values = (number | null)[];

/** sinceMonitored takes out what a bucket says that ended before there was anything to watch: a gap, not a zero. */
export function sinceMonitored(history: History): { active: Values; resolved: Values } {
  const { monitoringStartedAt: start, bucketSize, bucketStarts, series } = history;
  const began = start === null ? Number.POSITIVE_INFINITY : Date.parse(start);
  const watched = bucketStarts.map((s) => Date.parse(s) + bucketLengths[bucketSize] > began);
  const gapped = (values: Values) => values.map((v, i) => (watched[i] ? v : null));
  return { active: gapped(series.active), resolved: gapped(series.resolved) };
}

/** startMarker marks where monitoring started, if that is inside the window: "monitoring started 19 Nov 06:12". */
export function startMarker(history: History): { at: string; label: string }[] {
  const { monitoringStartedAt: start, from, to } = history;
  if (start === null || Date.parse(start) <= Date.parse(from) || Date.parse(start) >= Date.parse(to)) return [];
  return [{ at: start, label: `monitoring started ${shortTime(start).replace(",", "")}` }];
}

type Span = { from: string; to: string };

/** countedOf is what of a bucket is counted: what lies in the window. Other tiles are of whole buckets. */
export function countedOf(bucket: Span, window: Span): Span {
  const [start, end] = [Date.parse(window.from), Date.parse(window.to)];
  return {
    from: new Date(Math.max(Date.parse(bucket.from), start)).toISOString(),
    to: new Date(Math.min(Date.parse(bucket.to), end)).toISOString(),
  };
}
