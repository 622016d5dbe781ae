import type { Schemas } from "../api/client";
import type { Mark, Marks } from "../chart/types";
import { plural, shortTime } from "../ui/format";

export type Marked = Pick<Schemas["Alert"], "title" | "severity" | "firstTriggeredAt" | "resolvedAt" | "instance">;

/** What lies closer together than this part of the window is one mark. */
const slots = 120;
const severities = ["info", "warning", "critical"];
const worse = (a: string, b: string) => (severities.indexOf(b) > severities.indexOf(a) ? b : a);

/** marksOf is when alerts were raised and resolved within a window; null where none was. total is how many there are. */
export function marksOf(alerts: readonly Marked[], total: number, from: number, to: number): Marks | null {
  const raised = marksAt(alerts, from, to, false);
  const resolved = marksAt(alerts, from, to, true);
  const marks = [...resolved.marks, ...raised.marks];
  if (marks.length === 0) return null;
  const left = total > alerts.length ? `, of the first ${plural(alerts.length, "alert")}` : "";
  return {
    marks,
    label: `Marks: ${plural(raised.count, "alert")} raised and ${resolved.count} resolved in this window${left}`,
  };
}

function marksAt(alerts: readonly Marked[], from: number, to: number, over: boolean): { marks: Mark[]; count: number } {
  const inSlot = new Map<number, { at: number; alerts: Marked[] }>();
  let count = 0;
  for (const alert of alerts) {
    const when = over ? alert.resolvedAt : alert.firstTriggeredAt;
    const at = when === null ? Number.NaN : Date.parse(when);
    if (!(at >= from && at <= to)) continue;
    count++;
    const slot = Math.floor(((at - from) / (to - from)) * slots);
    const there = inSlot.get(slot);
    if (there) there.alerts.push(alert);
    else inSlot.set(slot, { at, alerts: [alert] });
  }
  const word = over ? "resolved" : "raised";
  const marks = [...inSlot.values()].map(({ at, alerts }) => ({
    at,
    hollow: over,
    tone: alerts.map((a) => a.severity as string).reduce(worse),
    label:
      alerts.length === 1
        ? `${shortTime(new Date(at))}, ${word}: ${named(alerts[0] as Marked)}`
        : `${shortTime(new Date(at))}, ${plural(alerts.length, "alert")} ${word}: ${alerts.slice(0, 5).map(named).join("; ")}${alerts.length > 5 ? "; …" : ""}`,
  }));
  return { marks, count };
}

const named = ({ title, instance }: Marked) => (instance ? `${title} (${instance.name})` : title);
