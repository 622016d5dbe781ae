// What the section about transactions and connections draws of a server's figures, and what it says where it draws nothing.
import type { Dimension } from "../activity/query";
import type { Schemas } from "../api/client";
import { seriesColors } from "../chart/palette";
import type { ChartSeries } from "../chart/types";
import { bytes, count, seconds } from "../ui/format";

export type Answer = Schemas["InstanceTransactions"];
type Figure = Schemas["ServerFigure"];

/** Panel is one chart of the section; by is what the sessions of a bucket are best divided by. */
export type Panel = {
  title: string;
  by: Dimension;
  format: (value: number) => string;
  figures: { figure: Figure; label: string; color: string }[];
};

export const panels: readonly Panel[] = [
  {
    title: "Oldest transactions",
    by: "user",
    format: seconds,
    figures: [
      { figure: "oldestTransaction", label: "Open", color: seriesColors.orange },
      { figure: "oldestIdleInTransaction", label: "Idle in transaction", color: seriesColors.gold },
    ],
  },
  {
    title: "Temporary files",
    by: "statement",
    format: bytes,
    figures: [
      { figure: "temporaryBytes", label: "Written per second", color: seriesColors.purple },
      { figure: "temporaryUsed", label: "In use", color: seriesColors.blue },
    ],
  },
  {
    title: "Checkpoints",
    by: "waitEvent",
    format: (value) => count(Math.round(value)),
    // Those that are due come every few minutes, and would fill the chart: they are counted below it.
    figures: [{ figure: "checkpointsRequested", label: "Requested", color: seriesColors.red }],
  },
  {
    title: "New connections",
    by: "client",
    format: (value) => `${Math.round(value * 10) / 10}/s`,
    figures: [{ figure: "newConnections", label: "Opened per second", color: seriesColors.blue }],
  },
];

const has = (values: readonly (number | null)[] | undefined) => values?.some((v) => v !== null) ?? false;

/** seriesOf are the figures of a panel that have a value in the window. */
export const seriesOf = (answer: Answer, panel: Panel): ChartSeries[] =>
  panel.figures
    .filter(({ figure }) => has(answer.series[figure]))
    .map(({ figure, label, color }) => ({ key: figure, label, color, values: answer.series[figure] ?? [] }));

/** unsaid are the reasons why figures of a panel are not told, each once; of an engine that tells another one instead, none. */
export function unsaid(answer: Answer, panel: Panel): string[] {
  const told = seriesOf(answer, panel).length > 0;
  const of = answer.figures.filter(({ figure }) => panel.figures.some((one) => one.figure === figure));
  return of.flatMap(({ state, sentence }) => (sentence && (!told || state === "denied") ? [sentence] : []));
}

/** heldBy says who holds a transaction open, as far as the reader may see it. */
export function heldBy({ session, user, application, client, database, state }: Schemas["TransactionHolder"]): string {
  const who = [user, application, client].filter(Boolean).join(" · ");
  const does = state === "idleInTransaction" ? ", idle in transaction" : "";
  return `session ${session}${who ? ` (${who})` : ""}${database?.name ? ` in ${database.name}` : ""}${does}`;
}

/** wroteFor is how long checkpoints wrote and waited for the disks in the window; null where nobody tells. */
export function wroteFor(answer: Answer): string | null {
  const sum = (figure: Figure) =>
    has(answer.series[figure]) ? (answer.series[figure] ?? []).reduce<number>((all, v) => all + (v ?? 0), 0) : null;
  const [wrote, synced, pages] = [sum("checkpointWriteMs"), sum("checkpointSyncMs"), sum("checkpointBuffers")];
  const [due, requested] = [sum("checkpointsTimed"), sum("checkpointsRequested")];
  if (wrote === null && pages === null) return null;
  const counted =
    due === null || requested === null ? "" : `${count(due)} were due, ${count(requested)} were requested. `;
  const parts = [
    ...(pages === null ? [] : [`wrote ${count(Math.round(pages))} pages`]),
    ...(wrote === null ? [] : [`took ${seconds(wrote / 1_000)} to write`]),
    ...(synced === null ? [] : [`${seconds(synced / 1_000)} to synchronize files`]),
  ];
  return `${counted}Checkpoints ${parts.join(", ")}.`;
}
