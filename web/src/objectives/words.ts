// Objectives in words, and as the form has them.
import type { Schemas } from "../api/client";
import { selects } from "../teams/teamForm";
import { duration, plural } from "../ui/format";
import { byKey, words } from "../url/tagWords";

export type Objective = Schemas["Objective"];
export type State = Schemas["ObjectiveState"];
export type Line = { key: string; tags: string[]; instanceIds: string[]; percent: number | ""; latency: number | "" };

/** long is a number of seconds in words; "0 s" for none. */
export const long = (seconds: number) => (seconds === 0 ? "0 s" : duration(seconds * 1000));

/** percent is with as many decimals as an objective may have, and no more than it needs. */
export const percent = (value: number) => `${value.toFixed(3).replace(/\.?0+$/, "")} %`;

/** available says the range: both ends if they differ. */
export function available(a: Schemas["ObjectiveAvailability"]): string {
  if (a.lowPercent === null || a.highPercent === null) return "–";
  const low = percent(a.lowPercent);
  return a.lowPercent === a.highPercent ? low : `${low.slice(0, -2)} – ${percent(a.highPercent)}`;
}

export const verdicts: Record<string, string> = { kept: "kept", missed: "missed", cannot_be_told: "cannot be told" };
export const colors: Record<string, string> = { kept: "teal", missed: "red", cannot_be_told: "gray" };

/** summary says how many servers kept their objective, missed it, or were known for too little time. */
export function summary(n: { kept: number; missed: number; cannotBeTold: number; without: number }): string {
  const sentences = [
    n.missed > 0 && `${plural(n.missed, "server")} missed the objective.`,
    n.kept > 0 && `${plural(n.kept, "server")} kept it.`,
    n.cannotBeTold > 0 && `${plural(n.cannotBeTold, "server")} may have kept or missed it: too much time is unknown.`,
    n.without > 0 && `${plural(n.without, "server")} ${n.without === 1 ? "has" : "have"} no objective.`,
  ].filter((s) => s !== false);
  const [first = ""] = sentences;
  return [first.replace(/\bit\b/, "the objective"), ...sentences.slice(1)].join(" ");
}

/** aims says what an objective asks for. */
export const aims = (o: Objective) =>
  [
    o.availabilityPercent == null ? "" : `available ${percent(o.availabilityPercent)}`,
    o.latencyMs == null ? "" : `mean latency up to ${o.latencyMs} ms`,
  ]
    .filter(Boolean)
    .join(", ");

export const everybody = (o: Objective) =>
  Object.keys(o.selector.tags ?? {}).length + (o.selector.instanceIds ?? []).length === 0;

/** about says which servers an objective is about. */
export const about = (o: Objective, first: boolean) =>
  everybody(o) ? (first ? "All servers" : "All other servers") : selects(o).replace(/\.$/, "");

export const lineOf = (o: Objective, key: string): Line => ({
  key,
  tags: words(o.selector.tags ?? {}),
  instanceIds: o.selector.instanceIds ?? [],
  percent: o.availabilityPercent ?? "",
  latency: o.latencyMs ?? "",
});

export const bodyOf = (lines: Line[]): Schemas["SetObjectives"] => ({
  items: lines.map((l) => ({
    selector: { tags: byKey(l.tags), instanceIds: l.instanceIds },
    availabilityPercent: l.percent === "" ? null : l.percent,
    latencyMs: l.latency === "" ? null : l.latency,
    window: "month",
  })),
});

/** months are the last n months as the API has them, the current one first. */
export const months = (now: Date, n: number) =>
  Array.from({ length: n }, (_, i) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i, 1)).toISOString().slice(0, 7),
  );

/** monthName is a month in words: "November 2026". */
export const monthName = (month: string) =>
  new Date(`${month}-01T00:00:00Z`).toLocaleDateString("en-US", { month: "long", year: "numeric", timeZone: "UTC" });
