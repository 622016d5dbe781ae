import type { Schemas } from "../api/client";

export type BucketSize = Schemas["BucketSize"];

export const presets = ["15m", "1h", "3h", "6h", "12h", "24h", "2d", "7d", "30d"] as const;
export type Preset = (typeof presets)[number];

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const lengths: Record<Preset, number> = {
  "15m": 15 * minute,
  "1h": hour,
  "3h": 3 * hour,
  "6h": 6 * hour,
  "12h": 12 * hour,
  "24h": day,
  "2d": 2 * day,
  "7d": 7 * day,
  "30d": 30 * day,
};

export const presetNames: Record<Preset, string> = {
  "15m": "Last 15 minutes",
  "1h": "Last hour",
  "3h": "Last 3 hours",
  "6h": "Last 6 hours",
  "12h": "Last 12 hours",
  "24h": "Last 24 hours",
  "2d": "Last 2 days",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
};

export const defaultPreset: Preset = "24h";

/** Window is a time window as the API takes it: from inclusive, to exclusive, RFC 3339 in UTC. */
export type Window = { from: string; to: string; bucketSize: BucketSize; preset: Preset | null };

/** Range is the window's part of an address: a preset, or two bounds; neither is the default preset. */
export type Range = { range?: Preset; from?: string; to?: string };

/** bucketSizeOf is the size that keeps a window readable: contract §1.7. */
export function bucketSizeOf(from: Date, to: Date): BucketSize {
  const length = to.getTime() - from.getTime();
  if (length <= day) return "1m";
  if (length <= 14 * day) return "1h";
  return length <= 180 * day ? "1d" : "1w";
}

/** isCustom says that a range has bounds of its own, which stay where they are. One bound alone is none. */
export function isCustom(range: Range): range is { from: string; to: string } {
  return range.range === undefined && range.from !== undefined && range.to !== undefined && range.from < range.to;
}

/** windowOf is the window that a range names; a preset ends at the anchor, which Refresh moves. */
export function windowOf(range: Range, anchor: Date): Window {
  if (isCustom(range)) {
    return {
      from: range.from,
      to: range.to,
      bucketSize: bucketSizeOf(new Date(range.from), new Date(range.to)),
      preset: null,
    };
  }
  const preset = range.range ?? defaultPreset;
  const from = new Date(anchor.getTime() - lengths[preset]);
  return { from: from.toISOString(), to: anchor.toISOString(), bucketSize: bucketSizeOf(from, anchor), preset };
}

export const bucketLengths: Record<BucketSize, number> = { "1m": minute, "1h": hour, "1d": day, "1w": 7 * day };

const lengthOf = ({ from, to }: Pick<Window, "from" | "to">) => Date.parse(to) - Date.parse(from);
const shifted = (instant: string, by: number) => new Date(Date.parse(instant) + by).toISOString();

/** distanceBefore is how far back the window before a window lies: its length, in whole buckets, so that the two align. */
export function distanceBefore(window: Window): number {
  const bucket = bucketLengths[window.bucketSize];
  return Math.ceil(lengthOf(window) / bucket) * bucket;
}

/** windowBefore is the window that a window is compared with: as long, and right before it. */
export function windowBefore(window: Window): Pick<Window, "from" | "to"> {
  const by = -distanceBefore(window);
  return { from: shifted(window.from, by), to: shifted(window.to, by) };
}

/**
 * stepped is the range a window further back or forward. Nothing lies after the anchor: a step that comes within a bucket
 * of it, or past it, leads to the preset of that length, or else to the range of that length that ends there. undefined is
 * no step at all.
 */
export function stepped(window: Window, direction: -1 | 1, anchor: Date): Range | undefined {
  const length = lengthOf(window);
  if (direction < 0) return { from: shifted(window.from, -length), to: shifted(window.to, -length) };
  const left = anchor.getTime() - Date.parse(window.to);
  if (left <= 0) return undefined;
  if (length + bucketLengths[window.bucketSize] <= left) {
    return { from: shifted(window.from, length), to: shifted(window.to, length) };
  }
  const preset = presets.find((name) => lengths[name] === length);
  return preset ? { range: preset } : { from: shifted(window.from, left), to: anchor.toISOString() };
}
