/** What the server says of a summary: internal/report/snapshot/sheet. */
export type Tone = "good" | "muted" | "critical" | "warning" | "info" | "caution";

export type Cell = { text: string; note?: string; strong?: boolean; tone?: Tone };
export type SheetTable = {
  name: string;
  columns: { name: string; right?: boolean }[];
  rows: { cells: Cell[]; total?: boolean }[] | null;
};
export type Span = {
  name: string;
  tone?: Tone;
  median: number | null;
  ninetieth: number | null;
  medianText: string;
  ninetiethText: string;
  note: string;
};
export type SheetPart = {
  title?: string;
  aside?: string;
  words?: string;
  empty?: boolean;
  table?: SheetTable;
  spans?: { name: string; rows: Span[] | null };
  note?: string;
};
export type Bars = {
  up: string;
  down: string;
  line: string;
  note: string;
  days: { name: string; up: number; down: number; level: number }[] | null;
};
export type Burn = {
  name: string;
  note: string;
  days: string[];
  rows: { of: string; text: string; tone?: Tone; days: { left: number; least: number }[] }[];
};
export type Sheet = {
  state: string;
  lead: string;
  rest: string;
  first?: string;
  scopeLabel: string;
  figures: { before?: string; name: string; value: string; note: string; tone?: Tone }[] | null;
  bars?: Bars;
  burn?: Burn;
  sections: { id: string; title: string; parts: SheetPart[] | null }[] | null;
};

/** toneColor is the color of a word. It never speaks alone. */
export const toneColor = (tone: Tone | undefined): string | undefined =>
  tone &&
  {
    good: "var(--mantine-color-teal-text)",
    muted: "dimmed",
    critical: "var(--mantine-color-red-text)",
    warning: "var(--mantine-color-orange-text)",
    info: "var(--mantine-color-blue-text)",
    caution: "var(--mantine-color-yellow-text)",
  }[tone];
