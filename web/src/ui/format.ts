import { engineName } from "../engines";

const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const short = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hour12: false,
});
const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" });

const zoneOf = (at: Date) => zone.formatToParts(at).find((p) => p.type === "timeZoneName")?.value ?? "";

/** absoluteTime is an instant in the reader's zone, named: "20 Nov 2026, 11:37:02 UTC". */
export const absoluteTime = (at: Date | string) => `${absolute.format(new Date(at))} ${zoneOf(new Date(at))}`;

/** shortTime is one for lists and axes: "20 Nov, 11:37". */
export const shortTime = (at: Date | string) => short.format(new Date(at));

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "short" });

/** clockTime is an instant of a day that is known, to the second: "18:15:17". */
export const clockTime = (at: Date | string) => clock.format(new Date(at));

const second = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});

/** exactTime is an instant to the second: today "18:15:17", else "20 Nov, 18:15:17". */
export const exactTime = (at: Date | string, now: Date) =>
  day.format(new Date(at)) === day.format(now) ? clockTime(at) : second.format(new Date(at));

/** sinceWhen is the beginning of what goes on: today to the second, "18:15:17", else as shortTime. */
export function sinceWhen(at: Date | string, now: Date): string {
  const from = new Date(at);
  return day.format(from) === day.format(now) ? clock.format(from) : shortTime(from);
}

const units: [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** duration is a length of time in its two largest units: "1 h 44 min". */
export function duration(milliseconds: number): string {
  let left = Math.max(0, Math.round(milliseconds / 1000));
  const parts: string[] = [];
  for (const [seconds, name] of units) {
    const n = Math.floor(left / seconds);
    left -= n * seconds;
    if (n > 0 && parts.length < 2) parts.push(`${n} ${name}`);
    else if (parts.length > 0) break;
  }
  return parts.join(" ") || "0 s";
}

/** seconds is a number of seconds, with a decimal below a minute: "< 0.1 s", "2.4 s", "1 h 12 min". */
export function seconds(n: number): string {
  if (n > 0 && n < 0.1) return "< 0.1 s";
  const rounded = Math.round(n * 10) / 10;
  return rounded < 60 ? `${rounded} s` : duration(rounded * 1_000);
}

const secondsTo = (at: Date | string, now: Date) => Math.round((new Date(at).getTime() - now.getTime()) / 1000);

/** ago is how long something is past, in its largest unit: "6 s ago". What has happened is never ahead: "0 s ago". */
export const ago = (at: Date | string, now: Date) => `${largest(Math.max(0, -secondsTo(at, now)))} ago`;

/** fromNow is how long until something planned, "in 29 days", or how long ago that was. */
export function fromNow(at: Date | string, now: Date): string {
  const seconds = secondsTo(at, now);
  return seconds > 0 ? `in ${largest(seconds)}` : ago(at, now);
}

/** lasting is how long something has gone on, in its largest unit: "9 min". */
export const lasting = (since: Date | string, now: Date) => largest(Math.max(0, -secondsTo(since, now)));

function largest(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

const whole = new Intl.NumberFormat(undefined);

/** count is a whole number with its separators. */
export const count = (n: number) => whole.format(n);

/** plural is "1 server", "2 servers"; where s does not do, many is the plural. */
export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** bytes is a size as file managers write it, by 1024. */
export function bytes(n: number): string {
  const names = ["B", "KB", "MB", "GB", "TB", "PB"];
  let size = n;
  let at = 0;
  while (size >= 1024 && at < names.length - 1) {
    size /= 1024;
    at++;
  }
  return `${size >= 10 || at === 0 ? Math.round(size) : size.toFixed(1)} ${names[at]}`;
}

/** growth is by how much a size changed: "+1.2 GB", "−3 MB". */
export const growth = (n: number) => (n === 0 ? "unchanged" : `${n < 0 ? "−" : "+"}${bytes(Math.abs(n))}`);

/** measuredEngines names the engines of an answer, and says of which of them a part only was sent. */
export const measuredEngines = ({ engines, partialEngines }: { engines: string[]; partialEngines: string[] }) =>
  engines.map((e) => (partialEngines.includes(e) ? `${engineName(e)} (in part)` : engineName(e))).join(", ");
