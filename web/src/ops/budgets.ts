// What the budgets of senders are called, and when a page warns of one.

import type { Schemas } from "../api/client";
import { count } from "../ui/format";

type Budget = Schemas["Budget"];

/** nearShare is the percentage from which on a budget is nearly used up. */
export const nearShare = 80;

/** fullness is how much is used, in whole percent, rounded down: 100 is used up. */
export const fullness = (used: number, limit: number) => Math.floor((100 * used) / Math.max(1, limit));

/** decimal is a size by 1,000, as the budget is set. */
function decimal(n: number): string {
  if (n < 1_000) return `${n} B`;
  const [size, unit] = n >= 1e9 ? [n / 1e9, "GB"] : n >= 1e6 ? [n / 1e6, "MB"] : [n / 1e3, "KB"];
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
}

const units: Record<string, { title: string; amount: (n: number) => string }> = {
  bytes: { title: "Unpacked bytes today", amount: decimal },
  events: { title: "Events today", amount: count },
  openAlerts: { title: "Open alerts", amount: count },
};

/** unitOf says what a budget is called and how its amounts are written. */
export const unitOf = (name: string) => units[name] ?? { title: name, amount: count };

/** usedUp says whether nothing is left for all senders, or for a token. */
export const usedUp = (b: Budget) => b.used >= b.limit || b.tokens.some((t) => t.used >= t.limit);

/** warningOf is a sentence on a budget that is used up, or nearly; undefined where there is room. */
export function warningOf(b: Budget): string | undefined {
  const near = [
    { share: fullness(b.used, b.limit), by: "all senders together" },
    ...b.tokens.map((t) => ({
      share: fullness(t.used, t.limit),
      by: t.token === null ? "a deleted token" : `the token ${t.token}`,
    })),
  ].filter(({ share }) => share >= nearShare);
  if (near.length === 0) return undefined;
  const then = usedUp(b)
    ? b.name === "openAlerts"
      ? "New alerts are refused until others are resolved."
      : "Calls are refused until midnight UTC; what is missing is not a sign that servers are down."
    : "Calls beyond it are refused.";
  return `${unitOf(b.name).title}: ${near.map(({ share, by }) => `${share} % used by ${by}`).join(", ")}. ${then}`;
}
