import type { Schemas } from "../api/client";

export type BucketSize = Schemas["BucketSize"];

export const presets = ["15m", "1h", "6h", "24h", "7d", "30d"] as const;
export type Preset = (typeof presets)[number];

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const lengths: Record<Preset, number> = {
  "15m": 15 * minute,
  "1h": hour,
  "6h": 6 * hour,
  "24h": day,
  "7d": 7 * day,
  "30d": 30 * day,
};

export const presetNames: Record<Preset, string> = {
  "15m": "Last 15 minutes",
  "1h": "Last hour",
  "6h": "Last 6 hours",
  "24h": "Last 24 hours",
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
