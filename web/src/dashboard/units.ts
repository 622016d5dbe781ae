import { shortTime } from "../ui/format";

const decimals = [0, 1, 2].map(
  (digits) => new Intl.NumberFormat(undefined, { minimumFractionDigits: 0, maximumFractionDigits: digits }),
) as [Intl.NumberFormat, Intl.NumberFormat, Intl.NumberFormat];

/** percent is a share of a hundred: "41.2 %". What is there and would read 0 is "<0.1 %". */
export const percent = (value: number) =>
  value > 0 && value < 0.05 ? `<${decimals[1].format(0.1)} %` : `${decimals[1].format(value)} %`;

/**
 * latency is milliseconds as they are read, with as many decimals as can matter: "0.7 µs", "4.21 ms", "812.5 ms", "1.2 s",
 * "58.1 s".
 */
export function latency(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 0.01) {
    const microseconds = 1_000 * milliseconds;
    return microseconds < 0.05 ? `<${decimals[1].format(0.1)} µs` : `${decimals[1].format(microseconds)} µs`;
  }
  const [value, unit] = milliseconds < 999.95 ? [milliseconds, "ms"] : [milliseconds / 1_000, "s"];
  return `${decimals[value < 10 ? 2 : value < 1_000 ? 1 : 0].format(value)} ${unit}`;
}

/** sessions is an average number of sessions, which stands without a unit: "2.4". */
export const sessions = (value: number) => decimals[1].format(value);

const dayOf = (text: string) => text.slice(0, text.lastIndexOf(","));

const minute = 60_000;

/** spanText is a time in words, in whole minutes as answers have it: "21 Nov, 09:52 – 09:53". */
export function spanText({ from, to }: { from: string; to: string }): string {
  const [start, end] = [shortTime(from), shortTime(new Date(Math.ceil(Date.parse(to) / minute) * minute))];
  return `${start} – ${dayOf(start) === dayOf(end) ? end.slice(dayOf(end).length + 2) : end}`;
}
