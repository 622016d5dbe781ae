/**
 * Hues of series, as [on light, on dark]. Each has at least 3:1 against the page and a card of its
 * scheme (WCAG 1.4.11; palette.test.ts holds them to it), as a line of 1.5 px needs.
 */
export const hues = {
  blue: ["#2563c9", "#6ea8ff"],
  orange: ["#c2570c", "#f5a059"],
  teal: ["#0c8267", "#45c9a8"],
  purple: ["#8447c9", "#c39bf5"],
  grey: ["#66717c", "#9aa6b1"],
  red: ["#c4303f", "#ff8080"],
  gold: ["#8f6a00", "#e0b84c"],
  green: ["#3f8f2f", "#7ccf5f"],
  orchid: ["#9a3cb8", "#d894f0"],
} as const satisfies Record<string, readonly [string, string]>;

/** seriesColors are the hues as CSS colours that follow the scheme: `color: seriesColors.blue`. */
export const seriesColors = Object.fromEntries(
  Object.entries(hues).map(([name, [light, dark]]) => [name, `light-dark(${light}, ${dark})`]),
) as Record<keyof typeof hues, string>;

/** palette is what each figure is drawn in, wherever it is drawn. */
export const palette = {
  active: seriesColors.red,
  resolved: seriesColors.teal,
  cpu: seriesColors.blue,
  memory: seriesColors.purple,
  disk: seriesColors.orange,
  average: seriesColors.teal,
  maximum: seriesColors.orange,
  locks: seriesColors.red,
  lightweightLocks: seriesColors.gold,
  io: seriesColors.blue,
  /** Teal would be too close to the CPU's green. */
  clientNetwork: seriesColors.orchid,
  other: seriesColors.grey,
  /** Sessions on the CPU: beside the waits, where blue is I/O. */
  onCpu: seriesColors.green,
} as const;
