import { expect, test } from "vitest";
import { statementsSearch } from "../url/schemas";
import {
  bucketSizeFor,
  firstLine,
  serverKey,
  slowest,
  statementsQuery,
  timesOf,
  titleOf,
  unknownBefore,
} from "./query";

const window = { from: "2026-11-20T10:00:00Z", to: "2026-11-20T11:00:00Z", bucketSize: "1m", preset: null } as const;

test("the request follows the address, with its defaults", () => {
  const all = { window, servers: {}, texts: true };
  expect(statementsQuery({}, all)).toEqual({
    from: window.from,
    to: window.to,
    page: 1,
    pageSize: 20,
    sort: "-totalMs",
  });
  const id = "0198f0a2-7c1e-7d2a-9c53-0d9f6f2f4b11";
  const search = statementsSearch({ databaseId: id, q: "orders", only: "slower", sort: "-meanMs", page: "2" });
  expect(statementsQuery(search, { ...all, servers: { instanceId: [id] } })).toMatchObject({
    instanceId: [id],
    databaseId: id,
    q: "orders",
    only: "slower",
    sort: "-meanMs",
    page: 2,
  });
});

test("unkept texts are not searched, and invalid parts of an address are dropped", () => {
  expect(statementsQuery({ q: "orders" }, { window, servers: {}, texts: false })).not.toHaveProperty("q");
  expect(statementsSearch({ only: "faster", sort: "text", databaseId: "x" })).toEqual({});
});

test("a window is drawn in the finest kept size", () => {
  const now = new Date("2026-11-22T12:00:00Z");
  const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000).toISOString();
  expect(bucketSizeFor({ from: ago(1), bucketSize: "1m" }, now)).toBe("1m");
  expect(bucketSizeFor({ from: ago(71.5), bucketSize: "1m" }, now)).toBe("1h");
  expect(bucketSizeFor({ from: ago(7 * 24), bucketSize: "1h" }, now)).toBe("1h");
  expect(bucketSizeFor({ from: ago(35 * 24), bucketSize: "1m" }, now)).toBe("1d");
  expect(bucketSizeFor({ from: ago(300 * 24), bucketSize: "1w" }, now)).toBe("1w");
});

test("the name of a statement is its first line, or a part of its id", () => {
  expect(firstLine("\n  \nSELECT ?\nFROM t")).toBe("SELECT ?");
  expect(titleOf({ id: "0d7f4f0a-5b7c-5c39-8a51-2f7a3f1f6b90", text: null })).toBe("Statement 3f1f6b90");
});

test("a slowdown is shown if there are earlier figures", () => {
  const previous = { calls: 1, totalMs: 70, meanMs: 70 };
  expect(timesOf({ meanMs: 140, previous })).toBe(2);
  expect(timesOf({ meanMs: 140, previous: null })).toBeNull();
  expect(timesOf({ meanMs: null, previous })).toBeNull();
  expect(timesOf({ meanMs: 1, previous: { ...previous, meanMs: 0 } })).toBeNull();
});

// F4.
test("earlier executions are unknown for times in which the instance was not watched", () => {
  const before = "2026-11-20T09:00:00Z";
  const previous = { calls: 1, totalMs: 70, meanMs: 70 };
  expect(unknownBefore({ previous: null, watchedSince: "2026-11-20T09:30:00Z" }, before)).toBe("2026-11-20T09:30:00Z");
  expect(unknownBefore({ previous: null, watchedSince: before }, before)).toBeNull();
  expect(unknownBefore({ previous: null, watchedSince: null }, before)).toBeNull();
  expect(unknownBefore({ previous, watchedSince: "2026-11-20T09:30:00Z" }, before)).toBeNull();
});

// F24.
test("the slowest execution is shown if more than the mean is known", () => {
  expect(slowest({ calls: 10, meanMs: 4, maxMs: 4 })).toBeNull();
  expect(slowest({ calls: 10, meanMs: 4, maxMs: 4.1 })).toBe(4.1);
  expect(slowest({ calls: 1, meanMs: 4, maxMs: 4 })).toBe(4);
  expect(slowest({ calls: 10, meanMs: 4, maxMs: null })).toBeNull();
});

test("a key of PostgreSQL is split", () => {
  expect(serverKey("-2933/10")).toEqual({ queryId: "-2933", role: "10", nested: false });
  expect(serverKey("17/16384/nested")).toEqual({ queryId: "17", role: "16384", nested: true });
  expect(serverKey("8a4fe/33")).toBeNull();
});
