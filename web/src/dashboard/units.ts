const decimals = [0, 1, 2].map(
  (digits) => new Intl.NumberFormat(undefined, { minimumFractionDigits: 0, maximumFractionDigits: digits }),
) as [Intl.NumberFormat, Intl.NumberFormat, Intl.NumberFormat];

/** percent is a share of a hundred: "41.2 %". */
export const percent = (value: number) => `${decimals[1].format(value)} %`;

/** milliseconds is a latency with as many decimals as can matter: "4.21 ms", "812.5 ms", "1,204 ms". */
export const milliseconds = (value: number) => `${decimals[value < 10 ? 2 : value < 1_000 ? 1 : 0].format(value)} ms`;

/** sessions is an average number of sessions, which stands without a unit: "2.4". */
export const sessions = (value: number) => decimals[1].format(value);
