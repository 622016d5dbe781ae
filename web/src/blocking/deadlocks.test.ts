import { expect, test } from "vitest";
import { type Deadlocked, numberOf, placeOf, sideOf, sourceOf } from "./deadlocks";
import type { Session } from "./episode";

const session = (id: string, has: Partial<Session> = {}): Session => ({
  session: id,
  kind: "client",
  startedAt: null,
  hidden: false,
  user: null,
  application: null,
  client: null,
  database: null,
  state: null,
  idleInTransaction: false,
  statement: null,
  statementId: null,
  transactionSince: null,
  stateSince: null,
  waitsSince: null,
  waitsFor: [],
  lock: null,
  mode: null,
  object: null,
  ...has,
});

const of = (has: Partial<Deadlocked> = {}): Deadlocked => ({
  instance: { id: "1", name: "pg", engine: "postgresql", removed: false },
  database: { id: "2", name: "shop" },
  count: 1,
  values: [1],
  statements: [],
  newestAt: null,
  source: null,
  sessions: [],
  victims: [],
  ...has,
});

test("deadlocks are counted in their database, if the server names it", () => {
  expect(numberOf(of())).toBe("1 deadlock");
  expect(numberOf(of({ count: 4 }))).toBe("4 deadlocks");
  expect(placeOf(of())).toBe("shop");
  expect(placeOf(of({ database: null }))).toBe("in a database that the server does not name");
});

test("the source of the sides is named, and missing sides are never called none", () => {
  const engine = (name: "oracle" | "sqlserver") =>
    of({ instance: { id: "1", name: "x", engine: name, removed: false } });
  expect(sourceOf(of({ source: "server" }))).toBe("As the server reported the newest one.");
  expect(sourceOf(of({ source: "sample" }))).toBe("A sample saw these sessions wait for each other.");
  expect(sourceOf(of())).toContain("only to its log");
  expect(sourceOf(engine("oracle"))).toContain("only to a trace file");
  expect(sourceOf(engine("sqlserver"))).toContain("no report of the server");
});

test("a side has its name, the lock it wanted, its statement, and whether the server ended it", () => {
  const s = session("51", {
    application: "billing",
    mode: "U",
    object: "table app.dbo.orders",
    statement: "UPDATE orders",
  });
  expect(sideOf(s, ["51"])).toEqual({
    name: "billing",
    ended: true,
    wants: "wanted U on app.dbo.orders",
    statement: "UPDATE orders",
  });
  expect(sideOf(session("52"), ["51"])).toEqual({ name: "session 52", ended: false, wants: null, statement: null });
});
