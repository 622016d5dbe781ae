import { type BucketSize, presetNames, type Window } from "./window";

/** bucketWords is a bucket's length as a reader says it. */
export const bucketWords: Record<BucketSize, string> = {
  "1m": "per minute",
  "1h": "per hour",
  "1d": "per day",
  "1w": "per week",
};

const minutes = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false } as const;
const short = new Intl.DateTimeFormat(undefined, minutes);
const long = new Intl.DateTimeFormat(undefined, { ...minutes, year: "numeric" });

/**
 * windowLabel is a window as the top bar shows it: "Last 24 hours", or its bounds in the browser's zone. Bounds of
 * another year than now's carry it.
 */
export function windowLabel(window: Window, now: Date = new Date()): string {
  if (window.preset !== null) return presetNames[window.preset];
  const [from, to] = [new Date(window.from), new Date(window.to)];
  const thisYear = [from, to].every((at) => at.getFullYear() === now.getFullYear());
  const format = thisYear ? short : long;
  return `${format.format(from)} – ${format.format(to)}`;
}

/** zoneName is the browser's time zone: "Europe/Berlin". */
export const zoneName = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
