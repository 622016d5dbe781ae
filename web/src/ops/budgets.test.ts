import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { fullness, unitOf, usedUp, warningOf } from "./budgets";

const budget = (change: Partial<Schemas["Budget"]>): Schemas["Budget"] => ({
  name: "events",
  limit: 1_000,
  used: 0,
  tokenLimit: 100,
  resetAt: "2026-11-21T00:00:00Z",
  tokens: [],
  ...change,
});
const token = (used: number) => ({ tokenId: "1", token: "prometheus-01", used, limit: 100 });

test("a budget is used up at its limit and not before", () => {
  expect([fullness(999, 1_000), fullness(1_000, 1_000)]).toEqual([99, 100]);
  expect([
    usedUp(budget({ used: 999 })),
    usedUp(budget({ used: 1_000 })),
    usedUp(budget({ tokens: [token(100)] })),
  ]).toEqual([false, true, true]);
});

test("bytes are shown in units of 1,000, and few bytes exactly", () => {
  const { amount } = unitOf("bytes");
  expect([0, 12, 999, 1_200, 20_000, 8e6, 20e9].map(amount)).toEqual([
    "0 B",
    "12 B",
    "999 B",
    "1.2 KB",
    "20 KB",
    "8.0 MB",
    "20 GB",
  ]);
});

test("a warning names the users of a budget and the consequence, from 80 % on", () => {
  expect(warningOf(budget({ used: 799, tokens: [token(79)] }))).toBeUndefined();
  expect(warningOf(budget({ tokens: [token(80)] }))).toBe(
    "Events today: 80 % used by the token prometheus-01. Calls beyond it are refused.",
  );
  expect(warningOf(budget({ used: 850, tokens: [token(100), { ...token(90), token: null }] }))).toMatch(
    /: 85 % used by all senders together, 100 % used by the token prometheus-01, 90 % used by a deleted token\. /,
  );
  expect(warningOf(budget({ used: 1_000 }))).toMatch(/all senders together.*refused until midnight UTC/);
  expect(warningOf(budget({ name: "openAlerts", used: 1_000 }))).toMatch(/refused until others are resolved/);
});
