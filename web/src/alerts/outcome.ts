import type { Schemas } from "../api/client";
import { count, plural } from "../ui/format";
import type { Action } from "./useAlertAction";

const past: Record<Action, string> = {
  acknowledge: "acknowledged",
  mute: "muted",
  unmute: "unmuted",
  resolve: "resolved",
};

/** inAll is what came of an action on many: "3 of 5 alerts acknowledged. 2 were not: The alert is Resolved." */
export function inAll(action: Action, items: readonly Schemas["ActedOnOne"][]): string {
  const refused = items.filter((item) => !item.done);
  if (refused.length === 0) return `${plural(items.length, "alert")} ${past[action]}.`;
  const done = items.length - refused.length;
  const reasons = [...new Set(refused.map((item) => item.problem?.detail ?? ""))].filter(Boolean).join(" ");
  const some = done === 0 ? "" : `${count(done)} of ${plural(items.length, "alert")} ${past[action]}. `;
  return `${some}${count(refused.length)} ${refused.length === 1 ? "was" : "were"} not: ${reasons}`;
}
