import { expect, test } from "vitest";
import { heldUntil, movesOn } from "./refresh";

test("a window moves on after a minute, whichever way the clock was set", () => {
  const at = Date.UTC(2026, 10, 20, 12, 0, 50);
  expect([0, 30_000, 59_000, 60_000, 90_000, -90_000].map((later) => movesOn(at, at + later))).toEqual([
    false,
    false,
    false,
    true,
    true,
    true,
  ]);
});

test("a page waits for the longest Retry-After", () => {
  const read = (status: string, retryAfter: number | null) => ({
    state: { status, error: status === "error" ? { retryAfter } : null, errorUpdatedAt: 10_000 },
  });
  expect(heldUntil([])).toBe(0);
  expect(heldUntil([read("success", null), read("error", null)])).toBe(10_000);
  expect(heldUntil([read("error", 5), read("error", 40), read("success", null)])).toBe(50_000);
});
