import type { Schemas } from "../api/client";

type Alert = Pick<Schemas["AlertDetail"], "rule" | "description" | "instance">;

/** isWatched says that a rule of the built-in watch raised an alert: a threshold is Muster's own. */
export const isWatched = ({ rule }: Pick<Alert, "rule">) =>
  rule !== null && (rule.threshold !== null || rule.id === "down");

/** watchRuleOf is the rule of the built-in watch that raised an alert; null: somebody else did. */
export const watchRuleOf = (alert: Pick<Alert, "rule">, rules: Schemas["WatchRule"][] | undefined) =>
  (isWatched(alert) && rules?.find(({ id }) => id === alert.rule?.id)) || null;

/** meaningOf is what an alert means and what is to be done, in paragraphs; null where its sender says nothing. own is the rule of the built-in watch. */
export function meaningOf({ description }: Pick<Alert, "description">, own: { meaning: string } | null): string | null {
  // A text of two paragraphs says both already.
  if (own === null || description?.includes("\n\n")) return description;
  return description ? `${own.meaning}\n\n${description}` : own.meaning;
}

export type Figure = "disk" | "locks" | "latency" | "cpu";

/** The rules that watch what the dashboard has as a figure of each server. */
const figures: Record<Figure, readonly string[]> = {
  disk: ["volume", "data-volume", "full-disk", "binary-logs"],
  locks: ["lock_wait", "lock-wait", "lock-storm", "blocking", "row-lock-waits"],
  latency: ["slow-queries", "slow-operations", "lock-storm-latency", "release-latency", "ongoing-slow", "turned-plan"],
  cpu: ["release-cpu", "turned-plan-cpu"],
};

/** aboutSessions is what an alert is about where sessions explain it: locks, or connections; else null. */
export function aboutSessions({ rule, instance }: Pick<Alert, "rule" | "instance">): "locks" | "connections" | null {
  if (!rule || !instance) return null;
  if (figures.locks.includes(rule.id)) return "locks";
  return /(^|-)connections$/.test(rule.id) ? "connections" : null;
}

/** Measured is the figure that an alert is about, with the threshold where that is one of the same figure. */
export type Measured = { figure: Figure; threshold: number | null };

/** measuredOf is what is kept of an alert's value; null where nothing is, or it is of no server. */
export function measuredOf({ rule, instance }: Alert): Measured | null {
  if (!rule || !instance) return null;
  const figure = (Object.keys(figures) as Figure[]).find((name) => figures[name].includes(rule.id));
  if (!figure) return null;
  const same = (figure === "disk" || figure === "cpu") && rule.unit === "percent";
  return { figure, threshold: same ? rule.threshold : null };
}
