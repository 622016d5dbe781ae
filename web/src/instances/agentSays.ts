import type { Schemas } from "../api/client";
import { bytes, count, plural } from "../ui/format";

export type MeasuringAgent = Schemas["MeasuringAgent"];
type Takeover = Schemas["Takeover"];

/** reportsWithin is how long an agent may say nothing: it reports once a minute. Milliseconds. */
const reportsWithin = 5 * 60_000;

/** hasGone says that an agent reported, and does not any more. */
export const hasGone = (agent: MeasuringAgent, now: Date) => now.getTime() - Date.parse(agent.seenAt) > reportsWithin;

const reasons: Record<string, string> = {
  buffer_full: "its buffer or its disk was full, and the oldest went",
  instance_held: "another sender reported the same statements",
  assessed_by_collector: "Muster measured the server over a connection of its own",
  unknown_instance: "Muster did not know the server or the database",
  forbidden: "its token may not write the server",
  refused: "Muster refused them; the agent's log says why",
  damaged: "its disk had lost them",
};

/** dropped are the measurements that an agent never sent, the most first, and why. */
export const dropped = (agent: MeasuringAgent) =>
  Object.entries(agent.dropped)
    .filter(([, n]) => n > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([why, n]) => ({ why, text: `${count(n)}: ${reasons[why] ?? why}` }));

/** tookOver says who took the statements over from another agent. */
export const tookOver = (t: Takeover) => `${t.by ?? "Another agent"} took the statements over from another agent`;

/** uncounted says whether neither agent counted the statements of a second or more. */
export const uncounted = (t: Takeover) => t.to === null || Date.parse(t.to) - Date.parse(t.from) >= 1000;

/** waiting is what an agent could not send yet, in words. */
export function waiting(agent: MeasuringAgent): string {
  const parts = [];
  if (agent.bufferedBytes > 0) parts.push(`${bytes(agent.bufferedBytes)} of measurements`);
  if (agent.facts > 0) parts.push(plural(agent.facts, "fact"));
  return parts.join(" and ") || "nothing";
}
