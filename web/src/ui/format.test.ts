import { expect, test } from "vitest";
import { ago, fromNow, growth, lasting, measuredEngines, seconds, shortTime, sinceWhen } from "./format";

const now = new Date("2026-11-20T12:00:00Z");
const after = (seconds: number) => new Date(now.getTime() + seconds * 1_000);

test.each([
  [-6, "6 s ago"],
  [-90, "1 min ago"],
  [-3 * 86_400, "3 days ago"],
  [0, "0 s ago"],
  [2, "0 s ago"],
  [300, "0 s ago"],
])("what has happened is past, whatever a clock says: %d s", (seconds, text) => {
  expect(ago(after(seconds), now)).toBe(text);
});

test.each([
  [29.5 * 86_400, "in 29 days"],
  [90, "in 1 min"],
  [0, "0 s ago"],
  [-2 * 86_400, "2 days ago"],
])("what is planned lies ahead until it is past: %d s", (seconds, text) => {
  expect(fromNow(after(seconds), now)).toBe(text);
});

test("an ongoing event has its beginning, today to the second, and its length", () => {
  expect(sinceWhen(after(-61), now)).toMatch(/^\d\d:58:59$/);
  expect(sinceWhen(after(-3 * 86_400), now)).toBe(shortTime(after(-3 * 86_400)));
  expect([lasting(after(-61), now), lasting(after(5), now)]).toEqual(["1 min", "0 s"]);
});

test.each([
  [0, "0 s"],
  [0.04, "< 0.1 s"],
  [0.36, "0.4 s"],
  [2, "2 s"],
  [2.35, "2.4 s"],
  [59.94, "59.9 s"],
  [59.96, "1 min"],
  [4_320, "1 h 12 min"],
])("seconds have a decimal below a minute: %d s", (n, text) => {
  expect(seconds(n)).toBe(text);
});

test("a growth has its sign", () => {
  expect([growth(1_288_490_189), growth(-3 * 1024 ** 2), growth(0)]).toEqual(["+1.2 GB", "−3.0 MB", "unchanged"]);
});

test("a partly reported engine is marked", () => {
  expect(measuredEngines({ engines: ["postgresql", "sqlserver"], partialEngines: ["sqlserver"] })).toBe(
    "PostgreSQL, SQL Server (in part)",
  );
  expect(measuredEngines({ engines: [], partialEngines: [] })).toBe("");
});
