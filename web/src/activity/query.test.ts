import { describe, expect, test } from "vitest";
import { palette } from "../chart/palette";
import { dimensions } from "../url/schemas";
import {
  activityQuery,
  comparedWith,
  coreLine,
  coresText,
  coversHosts,
  type Item,
  little,
  mostly,
  nameOf,
  narrowedBy,
  offered,
  onlyOf,
  othersOf,
  partsOf,
  pickedOf,
  rowsOf,
  seriesOf,
} from "./query";

const item = (of: Partial<Item>): Item => ({
  ...{ key: "unknown", known: true, name: null, waitClass: null, instance: null, database: null, statement: null },
  ...{ average: 1, share: null, byClass: null },
  ...of,
});
const instance = {
  id: "0198f0a2-7c1e-7d2a-9c53-0d9f6f2f4b11",
  name: "pg-1",
  engine: "postgresql" as const,
  removed: false,
};
const database = { id: "0198f0a2-7c1e-7d2a-9c53-0d9f6f2f4b12", name: "orders" };
const statement = { id: "0198f0a2-7c1e-7d2a-9c53-0d9f6f2f4b13", text: "\n  SELECT 1\nFROM t" };

describe("the request", () => {
  const asking = { from: "2026-11-22T10:00:00Z", to: "2026-11-22T11:00:00Z", bucketSize: "1m" as const };

  test("idle sessions are requested only on demand", () => {
    const without = activityQuery("user", asking, { servers: { tag: ["env:prod"] }, idle: false, limit: 6 });
    expect(without).toEqual({ ...asking, by: "user", limit: 6, tag: ["env:prod"], state: ["cpu", "waiting", "other"] });
    expect(activityQuery("user", asking, { servers: {}, idle: true, limit: 6 }).state).toBeUndefined();
  });

  test("people and states narrow the request, and a viewer's request has no people", () => {
    const search = { user: ["shop"], state: ["idle" as const], client: undefined };
    expect(onlyOf(search, true)).toEqual({ user: ["shop"], state: ["idle"] });
    expect(onlyOf(search, false)).toEqual({ state: ["idle"] });
    const query = activityQuery("user", asking, { servers: {}, only: onlyOf(search, true), idle: false, limit: 6 });
    expect(query).toMatchObject({ user: ["shop"], state: ["idle"] });
  });

  test("a name narrows the request, and an unnamed item does not", () => {
    expect(narrowedBy("user", item({ key: "others (2)", name: "others" }))).toEqual({ by: "user", value: "others" });
    expect(narrowedBy("user", item({ known: false }))).toBeNull();
    expect(narrowedBy("state", item({ key: "waiting" }))).toEqual({ by: "state", value: "waiting" });
    expect(narrowedBy("database", item({ name: "orders" }))).toBeNull();
  });

  test("a bar has its classes from the CPU on, and is plain if they are unknown", () => {
    const parts = partsOf(item({ average: 4, byClass: { io: 1, cpu: 3 } }));
    expect(parts?.map(({ key, part }) => [key, part])).toEqual([
      ["cpu", 0.75],
      ["io", 0.25],
    ]);
    expect(partsOf(item({ average: 4 }))).toBeNull();
  });

  test("a viewer is offered no users, applications and clients", () => {
    expect(offered(dimensions, true)).toEqual([...dimensions]);
    expect(offered(dimensions, false)).toEqual([
      "waitClass",
      "waitEvent",
      "statement",
      "database",
      "instance",
      "state",
    ]);
  });

  test("a bucket is picked by both of its bounds", () => {
    const [pickedFrom, pickedTo] = [asking.from, asking.to];
    expect(pickedOf({ pickedFrom, pickedTo })).toEqual({ from: pickedFrom, to: pickedTo });
    expect(pickedOf({ pickedFrom })).toBeNull();
  });
});

describe("the answer", () => {
  test("a missing name is shown as not reported, and never as an empty name", () => {
    for (const by of ["user", "application", "client", "database", "instance"] as const)
      expect(nameOf(by, item({ known: false })), by).toBe("not reported");
    expect(nameOf("statement", item({ known: false }))).toBe("none, or not reported");
    expect(nameOf("waitEvent", item({ known: false, waitClass: "io" }))).toBe("I/O, event not reported");
    expect(nameOf("user", item({ key: "unknown (2)", name: "unknown" })), "a user of that name").toBe("unknown");
  });

  test("each dimension has its names", () => {
    expect(nameOf("waitClass", item({ key: "cpu", waitClass: "cpu" }))).toBe("CPU");
    expect(nameOf("waitEvent", item({ key: "cpu", waitClass: "cpu" }))).toBe("on CPU");
    expect(nameOf("waitEvent", item({ name: "relation", waitClass: "locks" }))).toBe("relation");
    expect(nameOf("state", item({ key: "idleInTransaction" }))).toBe("Idle in transaction");
    expect(nameOf("statement", item({ instance, database, statement }))).toBe("SELECT 1");
    expect(nameOf("statement", item({ statement: { ...statement, text: null } }))).toBe("Statement 6f2f4b13");
    expect(nameOf("instance", item({ instance }))).toBe("pg-1");
  });

  test("classes are stacked and colored as on the dashboard, the CPU below them, whatever their rank", () => {
    const items = ["io", "cpu", "locks"].map((key) => item({ key, waitClass: key }));
    const series = seriesOf({ by: "waitClass", items, others: 0, series: { io: [1], cpu: [2], locks: [3] } });
    expect(series.map(({ key, color, values }) => [key, color, values])).toEqual([
      ["cpu", palette.onCpu, [2]],
      ["locks", palette.locks, [3]],
      ["io", palette.io, [1]],
    ]);
  });

  test("others are on top, in gray and counted; long names are cut off in the legend", () => {
    const items = [item({ key: "a", name: "a".repeat(60) }), item({ key: "b", name: "b" })];
    const series = seriesOf({ by: "client", items, others: 17, series: { a: [1], b: [1], others: [null] } });
    expect(series.map(({ label }) => label)).toEqual([`${"a".repeat(35)}…`, "b", "17 other clients"]);
    expect(series.at(-1)).toMatchObject({ key: "others", color: palette.other, values: [null] });
    expect(new Set(series.map(({ color }) => color)).size).toBe(3);
    expect(seriesOf({ by: "client", items, others: 1, series: { others: [1] } }).at(-1)?.label).toBe("1 other client");
  });

  test("a row has its place, its figure, and its part of the greatest", () => {
    const items = [
      item({ key: "1", average: 4, share: 0.8, instance, database, statement }),
      item({ key: "2", average: 1, share: 0.2, instance, database, statement: { ...statement, text: null } }),
    ];
    const rows = rowsOf({ by: "statement", items });
    expect(rows.map(({ where, average, share, length }) => [where, average, share, length])).toEqual([
      ["pg-1 · orders", "4.0", 0.8, 1],
      ["pg-1 · orders", "1.0", 0.2, 0.25],
    ]);
    expect(rowsOf({ by: "user", items: [item({ average: 0 })] })[0]?.length).toBe(0);
  });

  test("the rest is the average minus the rows", () => {
    const items = [item({ average: 3 }), item({ average: 1 })];
    expect(othersOf({ items, others: 7, average: 8 })).toEqual({ count: 7, average: "4.0", share: 0.5 });
    expect(othersOf({ items, others: 0, average: 4 })).toBeNull();
    expect(othersOf({ items: [], others: 0, average: null })).toBeNull();
  });

  test("a small value is never written as zero", () => {
    expect([little(0), little(0.001), little(0.05), little(12)]).toEqual(["0.0", "<0.1", "0.1", "12.0"]);
  });
});

describe("cores", () => {
  const series = { cpu: [4, null, 8], io: [1, null, 2] };

  test("are a line if all hosts are known, and if the figures below it are not flat", () => {
    expect(coreLine({ cores: 16, series }, true)).toBe(16);
    expect(coreLine({ cores: 16, series }, false)).toBeNull();
    expect(coreLine({ cores: 31, series }, true)).toBeNull();
    expect(coreLine({ cores: null, series }, true)).toBeNull();
    expect(coreLine({ cores: 16, series: { cpu: [null] } }, true)).toBeNull();
  });

  test("are complete only if the host of every active server reports its own", () => {
    const on = (host: string | null, status = "up") => ({ host, status });
    expect(coversHosts(2, [on("a"), on("a"), on("b")])).toBe(true);
    expect(coversHosts(1, [on("a"), on("b")])).toBe(false);
    expect(coversHosts(1, [on("a"), on(null)])).toBe(false);
    expect(coversHosts(1, [on("a"), on(null, "inactive")])).toBe(true);
    expect(coresText(2, 1, false)).toBe("2 cores on 1 host. The other hosts here report no number of cores.");
    expect(coresText(1, 1, true)).toBe("1 core on 1 host.");
  });
});

describe("a picked bucket in words", () => {
  test("stands beside the average of the window", () => {
    expect(comparedWith(18, 10)).toBe("1.8 times the average of the window, 10.0");
    expect(comparedWith(10.5, 10)).toBe("about the average of the window, 10.0");
    expect(comparedWith(2, 10)).toBe("less than the average of the window, 10.0");
    expect(comparedWith(2, null)).toBeNull();
    expect(comparedWith(2, 0)).toBeNull();
  });

  test("names the activity of more than half of its sessions", () => {
    const answer = {
      by: "waitClass" as const,
      bucketStarts: ["2026-11-22T10:00:00Z", "2026-11-22T10:01:00Z"],
      series: { cpu: [4, 2], locks: [1, 3], io: [null, 0] },
    };
    expect(mostly(answer, "2026-11-22T10:01:00.000Z")).toBe("More than half of them wait for locks.");
    expect(mostly({ ...answer, series: { cpu: [1, 1], locks: [1, 1] } }, "2026-11-22T10:01:00Z")).toBeNull();
    expect(mostly({ ...answer, by: "user" }, "2026-11-22T10:01:00Z")).toBeNull();
    expect(mostly(answer, "2026-11-22T10:02:00Z")).toBeNull();
  });
});
