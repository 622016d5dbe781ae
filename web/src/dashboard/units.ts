const decimals = [0, 1, 2].map(
  (digits) => new Intl.NumberFormat(undefined, { minimumFractionDigits: 0, maximumFractionDigits: digits }),
) as [Intl.NumberFormat, Intl.NumberFormat, Intl.NumberFormat];

/** percent is a share of a hundred: "41.2 %". */
export const percent = (value: number) => `${decimals[1].format(value)} %`;

/** latency is milliseconds as they are read, with as many decimals as can matter: "4.21 ms", "812.5 ms", "1.2 s", "58.1 s". */
export function latency(milliseconds: number): string {
  const [value, unit] = milliseconds < 999.95 ? [milliseconds, "ms"] : [milliseconds / 1_000, "s"];
  return `${decimals[value < 10 ? 2 : value < 1_000 ? 1 : 0].format(value)} ${unit}`;
}

/** sessions is an average number of sessions, which stands without a unit: "2.4". */
export const sessions = (value: number) => decimals[1].format(value);
