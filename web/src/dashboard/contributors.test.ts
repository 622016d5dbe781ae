import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { lengthOf, movedBy, namedOf, notKeptSince, offeredKeys, shownOf, soFar, windowAround } from "./contributors";

const item = (of: Partial<Schemas["Contributor"]>): Schemas["Contributor"] => ({
  ...{ name: null, instance: null, database: null, host: null, mount: null, category: null },
  ...{ statement: null, alert: null, value: 1, calls: null, totalMs: null, share: null },
  ...of,
});

test("a minute is shown with ten around it, a longer time unchanged, and no future time", () => {
  const now = new Date("2026-11-22T12:00:00Z");
  expect(windowAround("2026-11-22T10:00:00Z", "2026-11-22T10:02:00Z", now)).toEqual({
    from: "2026-11-22T09:56:00.000Z",
    to: "2026-11-22T10:06:00.000Z",
  });
  expect(windowAround("2026-11-22T11:58:00Z", "2026-11-22T11:59:00Z", now).to).toBe(now.toISOString());
  const hour = { from: "2026-11-22T10:00:00Z", to: "2026-11-22T11:00:00Z" };
  expect(windowAround(hour.from, hour.to, now)).toEqual(hour);
});

test("a bar is the share of the total, of the maximum, or of a hundred percent", () => {
  const shares = [item({ value: 3, share: 0.75 }), item({ value: 1, share: 0.25 })];
  expect(lengthOf({ unit: "ms", items: shares }, 1)).toBe(0.25);
  expect(lengthOf({ unit: "ms", items: [item({ value: 40 }), item({ value: 10 })] }, 1)).toBe(0.25);
  expect(lengthOf({ unit: "percent", items: [item({ value: 80 })] }, 0)).toBe(0.8);
  expect(lengthOf({ unit: "ms", items: [item({ value: 0 })] }, 0)).toBe(0);
});

test("a link leads to the server, to the servers of a host, and nowhere for a removed one", () => {
  const [id, other] = ["0198f0a2-7c1e-7d2a-9c53-0d9f6f2f4b11", "0198f0a2-7c1e-7d2a-9c53-0d9f6f2f4b12"];
  const instance = { id, name: "pg-1", engine: "postgresql" as const, removed: false };
  expect(namedOf("instance", item({ instance }), []).instances).toEqual([instance]);
  expect(namedOf("instance", item({ instance: { ...instance, removed: true } }), []).instances).toEqual([]);
  const fleet = [
    { id, name: "pg-1", host: "db1" },
    { id: other, name: "pg-2", host: "db1" },
    { id: other, name: "pg-3", host: null },
  ];
  const host = namedOf("host", item({ host: "db1" }), fleet);
  expect([host.title, host.where, host.instances.length]).toEqual(["db1", "pg-1, pg-2", 2]);
  expect(namedOf("volume", item({ host: "db1", mount: "/" }), fleet)).toMatchObject({
    title: "/",
    where: "db1 · pg-1, pg-2",
  });
});

test("each figure has its tile, the API's name, and its dimension", () => {
  const { tile, series, by } = shownOf("firing");
  expect([tile.title, series, by[0]]).toEqual(["Alert history", "active", "alert"]);
  expect([shownOf("active").tile.title, shownOf("active").series]).toEqual(["Connections", "active"]);
  expect([shownOf("disk").by[0], shownOf("average").by[0]]).toEqual(["volume", "statement"]);
});

test("a step is as long as the time, and a single moment has none", () => {
  const who = { figure: "cpu", from: "2026-11-22T10:00:00.000Z", to: "2026-11-22T10:01:00.000Z" } as const;
  expect(movedBy(who, -1)).toMatchObject({ from: "2026-11-22T09:59:00.000Z", to: who.from });
  expect(movedBy({ figure: "total" }, 1)).toEqual({ figure: "total" });
});

test("the beginning of the detail is read from its own refusal only", () => {
  const params = { since: "2026-11-20T00:00:00Z" };
  expect(notKeptSince([{ code: "detail_not_kept", params }])).toBe(params.since);
  expect(notKeptSince([{ code: "by_not_available", params }])).toBeNull();
});

// F17: the tile and the breakdown of such a bucket are read at different times.
test("a breakdown of an unfinished bucket names its length", () => {
  const bucket = { from: "2026-11-26T17:54:00Z", to: "2026-11-26T17:55:00Z" };
  expect(soFar(bucket, "2026-11-26T17:54:41.3Z")).toBe("partial (41 of 60 s)");
  expect(soFar(bucket, "2026-11-26T17:55:00Z")).toBeNull();
  expect(soFar({ ...bucket, to: "2026-11-26T18:54:00Z" }, "2026-11-26T18:04:00Z")).toBe("partial (10 of 60 min)");
  expect(soFar({ ...bucket, to: "2026-11-26T18:10:00Z" }, "2026-11-26T18:04:00Z"), "no bucket").toBeNull();
});

test("waits are by users, applications and clients, too, which viewers are not offered", () => {
  const people = ["user", "application", "client"];
  for (const figure of ["all", "locks", "other"] as const) {
    expect(offeredKeys(figure, true)).toEqual(expect.arrayContaining(["event", "statement", ...people]));
    expect(offeredKeys(figure, false)).toEqual(offeredKeys(figure, true).filter((key) => !people.includes(key)));
    expect(offeredKeys(figure, false)).toContain("event");
  }
  expect(offeredKeys("total", true)).toEqual(["instance", "database"]);
});

test("a missing name is shown as not reported; a wait event has its kind", () => {
  for (const by of ["user", "application", "client", "event"] as const) {
    expect(namedOf(by, item({ name: "checkout" }), []).title).toBe("checkout");
    expect(namedOf(by, item({}), []).title).toBe("not reported");
  }
  expect(namedOf("event", item({ name: "relation", category: "locks" }), []).where).toBe("Locks");
  expect(namedOf("statement", item({}), [])).toMatchObject({ title: "not reported", where: null });
});
