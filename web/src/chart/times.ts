import { type BucketSize, bucketLengths } from "../window/window";

const intl = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(undefined, options);
const clock = intl({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const seconds = intl({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = intl({ day: "numeric", month: "short" });
const month = intl({ month: "short", year: "numeric" });

const isMidnight = (at: Date) => at.getHours() === 0 && at.getMinutes() === 0;
const dayOf = (at: Date) => `${at.getFullYear()}-${at.getMonth()}-${at.getDate()}`;

/** bucketLabel names a bucket in the browser's zone: "21 Nov, 10:37", "21 Nov, 10:00–11:00", "21 Nov", "16 – 22 Nov". */
export function bucketLabel(start: number, size: BucketSize): string {
  const first = new Date(start);
  const end = new Date(start + bucketLengths[size]);
  if (size === "1m") return `${day.format(first)}, ${clock.format(first)}`;
  if (size === "1h") return `${day.format(first)}, ${clock.format(first)}–${clock.format(end)}`;
  // Days and weeks are of UTC: elsewhere they begin in the middle of a day.
  if (!isMidnight(first)) {
    return `${day.format(first)}, ${clock.format(first)} – ${day.format(end)}, ${clock.format(end)}`;
  }
  return size === "1d" ? day.format(first) : `${day.format(first)} – ${day.format(new Date(end.getTime() - 1))}`;
}

const parts: Record<BucketSize, [unit: number, name: string]> = {
  "1m": [1_000, "s"],
  "1h": [60_000, "min"],
  "1d": [3_600_000, "h"],
  "1w": [86_400_000, "days"],
};

/** partialText says how much of a bucket there was when it was read: "partial (37 of 60 min)". */
export function partialText(start: number, generatedAt: number, size: BucketSize): string {
  const [unit, name] = parts[size];
  const whole = bucketLengths[size] / unit;
  const past = Math.min(whole, Math.max(0, Math.floor((generatedAt - start) / unit)));
  return `partial (${past} of ${whole} ${name})`;
}

/** axisLabels are the x axis's, so many milliseconds apart: times on a 24 h clock, under the first of a day its date. */
export function axisLabels(ticks: readonly number[], apart: number): string[] {
  let before = "";
  return ticks.map((tick) => {
    const at = new Date(tick);
    if (apart >= 28 * 86_400_000) return month.format(at);
    if (apart >= 86_400_000) return day.format(at);
    const text = (apart < 60_000 ? seconds : clock).format(at);
    const today = dayOf(at);
    const label = today === before ? text : `${text}\n${day.format(at)}`;
    before = today;
    return label;
  });
}

/** midnights are the instants inside a window at which the browser's zone changes the date. */
export function midnights(from: number, to: number): number[] {
  const found: number[] = [];
  const at = new Date(from);
  at.setHours(24, 0, 0, 0);
  while (at.getTime() < to) {
    found.push(at.getTime());
    at.setHours(24, 0, 0, 0);
  }
  return found;
}
