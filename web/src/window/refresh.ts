// How often a page is read anew by itself, as its address says.

export const intervals = ["30s", "1m"] as const;
export type Interval = (typeof intervals)[number];

export const intervalLengths: Record<Interval, number> = { "30s": 30_000, "1m": 60_000 };
export const intervalNames: Record<Interval, string> = { "30s": "Every 30 seconds", "1m": "Every minute" };

/** A timer may be a little early by the clock that it is held against. */
const minute = 60_000 - 500;

/**
 * movesOn says that a window which ended at one instant ends at another one now. Measurements come by the minute: within
 * one, the same is asked again, which costs an answer without a body where nothing has changed.
 */
export const movesOn = (anchor: number, now: number) => Math.abs(now - anchor) >= minute;

/** Asked is what is read of a query that was read. */
type Asked = { state: { status: string; error: unknown; errorUpdatedAt: number } };

/** heldUntil is until when a server that is busy has told the page to ask nothing; 0 where it has not. */
export function heldUntil(queries: readonly Asked[]): number {
  const until = queries.map(({ state: { status, error, errorUpdatedAt } }) => {
    const seconds = (error as { retryAfter?: number | null } | null)?.retryAfter ?? 0;
    return status === "error" ? errorUpdatedAt + 1_000 * seconds : 0;
  });
  return Math.max(0, ...until);
}
