import { expect, test } from "vitest";
import {
  branchesOf,
  type Episode,
  endOf,
  groupsOf,
  placeIn,
  remediesOf,
  type Session,
  shownAt,
  spanOf,
  stateOf,
  stepsOf,
  type Tree,
  titleOf,
  whyOf,
} from "./episode";

const session = (id: string, over: Partial<Session> = {}): Session => ({
  session: id,
  kind: "client",
  startedAt: "2026-11-26T17:02:11.482123Z",
  user: null,
  application: null,
  client: null,
  hidden: false,
  database: "shop",
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
  ...over,
});

const waits = (id: string, ...holders: string[]) =>
  session(id, { waitsFor: holders, waitsSince: "2026-11-26T18:20:31Z", application: "shop", mode: "ShareLock" });

const episode = (over: Partial<Episode> = {}): Episode => ({
  id: "e",
  instance: { id: "i", name: "orders", engine: "postgresql", removed: false },
  database: "shop",
  advisory: false,
  from: "2026-11-26T18:20:31Z",
  to: null,
  endSeen: false,
  maxBlocked: 12,
  peakAt: "2026-11-26T18:24:20Z",
  blockedSeconds: 100,
  behind: 12,
  roots: 1,
  cycle: [],
  root: session("24749", { application: "billing", user: "bill" }),
  lock: "relation",
  mode: null,
  object: "table public.orders",
  endedBy: null,
  ...over,
});

test("the title names the blocking session, the number of waiting ones and the object", () => {
  const over = { to: "2026-11-26T18:26:00Z" };
  const of = (root: Partial<Session>, e: Partial<Episode> = {}) => titleOf(episode({ root: session("7", root), ...e }));
  expect(titleOf(episode())).toBe("billing holds up 12 sessions on public.orders");
  expect(titleOf(episode(over))).toBe("billing held up 12 sessions on public.orders");
  expect(of({ user: "bill" }, { behind: 1, maxBlocked: 1, object: null })).toBe("bill holds up 1 session");
  expect(of({ user: "bill" }, { behind: 499, maxBlocked: 9999 })).toBe(
    "bill holds up at least 499 of 9,999 sessions on public.orders",
  );
  expect(of({}, { advisory: true, object: "42" })).toBe("Session 7 holds up 12 sessions on advisory lock 42");
  expect(of({ kind: "autovacuum", user: "postgres" })).toBe("Autovacuum holds up 12 sessions on public.orders");
  expect(of({ kind: "prepared", session: "prepared tx-7", user: "bill" })).toContain("Prepared transaction tx-7 holds");
  expect(of({ kind: "distributed", session: "-2" })).toContain("An orphaned distributed transaction holds up");
  expect(of({ application: "billing" }, { roots: 2 })).toContain("on public.orders, beside 1 other root");
  expect(titleOf(episode({ cycle: ["1", "2"], behind: 3, maxBlocked: 4 }))).toBe(
    "Sessions 1 and 2 wait for each other and hold up 2 sessions on public.orders",
  );
  expect(titleOf(episode({ cycle: ["1", "2", "3"], behind: 2, maxBlocked: 3, ...over }))).toBe(
    "Sessions 1, 2 and 1 more waited for each other on public.orders",
  );
});

test("a session that is idle in its transaction is shown as such while it is", () => {
  const at = "2026-11-26T18:24:20Z";
  const began = "2026-11-26T18:19:58Z";
  expect(stateOf(session("1", { idleInTransaction: true, stateSince: "2026-11-26T18:20:04Z" }), at)).toBe(
    "idle in transaction for 4 min 16 s",
  );
  expect(stateOf(session("1", { state: "active", transactionSince: began }), at)).toBe("active for 4 min 22 s");
  expect(stateOf(session("1", { kind: "prepared", transactionSince: began }), at)).toBe("prepared for 4 min 22 s");
  expect(stateOf(session("1", { idleInTransaction: true }), at)).toBe("idle in transaction");
  expect(stateOf(waits("1", "2"), at)).toBe("waits for 3 min 49 s");
  expect(stateOf(session("1"), at)).toBeNull();
});

test("the known part of the end is shown", () => {
  const to = "2026-11-26T18:26:00Z";
  expect(endOf(episode())).toBeNull();
  expect(endOf(episode({ to }))).toBe("No later sample exists, so its end was not seen.");
  expect(endOf(episode({ to, endSeen: true }))).toBe("How it ended is not known.");
  expect(endOf(episode({ to, endSeen: true, endedBy: "transactionEnded" }))).toBe("The root committed or rolled back.");
  expect(endOf(episode({ to, endSeen: true, endedBy: "sessionEnded" }))).toContain("closed or terminated");
  expect(endOf(episode({ to, endSeen: true, endedBy: "waitsEnded" }))).toContain("gave up or were canceled");
});

const tree = (sessions: Session[], roots: Tree["roots"]): Tree => ({ at: "", omitted: 0, sessions, roots });
const ids = (of: Session[]) => of.map((s) => s.session).join();

test("a tree is drawn from its root, each waiting session once", () => {
  const made = branchesOf(
    tree(
      [session("1"), session("9"), waits("2", "1"), waits("3", "2"), waits("4", "2", "3"), waits("8", "9")],
      [
        { session: "1", behind: 3, cycle: [] },
        { session: "9", behind: 1, cycle: [] },
      ],
    ),
  );
  expect(made.map((b) => [ids(b.roots), ids(b.direct), ids(b.behind)])).toEqual([
    ["1", "2", "3,4"],
    ["9", "8", ""],
  ]);
  const [circle] = branchesOf(
    tree(
      [waits("1", "2"), waits("2", "1"), waits("3", "2"), waits("4", "3")],
      [{ session: "2", behind: 3, cycle: ["2", "1"] }],
    ),
  );
  expect([circle?.cycle, ids(circle?.roots ?? []), ids(circle?.direct ?? []), ids(circle?.behind ?? [])]).toEqual([
    true,
    "2,1",
    "3",
    "4",
  ]);
});

test("sessions that wait alike are one group, the largest first", () => {
  const other = session("5", { application: "report", waitsSince: "2026-11-26T18:19:00Z", waitsFor: ["1"] });
  const groups = groupsOf([other, waits("2", "1"), { ...waits("3", "1"), waitsSince: "2026-11-26T18:20:00Z" }]);
  expect(groups.map((g) => [ids(g.sessions), g.longest])).toEqual([
    ["2,3", "2026-11-26T18:20:00Z"],
    ["5", "2026-11-26T18:19:00Z"],
  ]);
});

test("the picture shows the episode, and its cause before it, as far as there is room", () => {
  const [from, now] = [Date.parse("2026-11-26T18:20:31Z"), Date.parse("2026-11-26T18:24:31Z")];
  const began = (at: string) => spanOf(episode({ root: session("1", { transactionSince: at }) }), now);
  expect(began("2026-11-26T18:19:58Z").from).toBeLessThan(Date.parse("2026-11-26T18:19:58Z"));
  expect(began("2026-11-20T00:00:00Z").from).toBe(from - 240_000);
  expect(spanOf(episode(), now)).toEqual({ from: from - 30_000, to: now });
  expect(placeIn({ from: 0, to: 200 }, 50)).toBe(25);
  expect(placeIn({ from: 0, to: 200 }, 900)).toBe(100);
  const sample = (at: number, blocked: number) => ({
    at: new Date(at).toISOString(),
    blocked,
    session: "1",
    startedAt: null,
    treeKept: true,
    tree: null,
  });
  const samples = [sample(50, 1), sample(100, 2)];
  expect(stepsOf(samples, { from: 0, to: 200 }, 2, 150)).toBe(
    "0.00,100.00 25.00,100.00 25.00,50.00 50.00,50.00 50.00,0.00 75.00,0.00 75.00,100.00",
  );
  const at = (time: number) => shownAt(samples, new Date(time).toISOString());
  expect([shownAt(samples, undefined), at(0), at(50), at(99), at(100), at(900), shownAt([], undefined)]).toEqual([
    1, 0, 0, 0, 1, 1, -1,
  ]);
});

test("commands that end a wait check the session's start, the least harmful first", () => {
  const branch = { roots: [session("24749", { idleInTransaction: true, application: "billing" })], cycle: false };
  const queued = { ...branch, direct: [waits("24911", "24749")], behind: [waits("3", "24911")] };
  const [cancel, end, prevent] = remediesOf("postgresql", queued);
  expect(cancel?.sql).toBe(
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity\n WHERE pid = 24911 AND backend_start = '2026-11-26 17:02:11.482123+00';",
  );
  expect(end?.sql).toContain("pg_terminate_backend(pid) FROM pg_stat_activity\n WHERE pid = 24749 AND");
  expect(end?.title).toBe("End the session of billing.");
  expect(prevent?.sql).toBeUndefined();
  const one = (engine: string, root: Session) =>
    remediesOf(engine, { roots: [root], cycle: false, direct: [waits("2", "1")], behind: [] }).map((r) => r.sql)[0];
  expect(one("sqlserver", session("51"))).toBe(
    "IF EXISTS (SELECT 1 FROM sys.dm_exec_sessions\n            WHERE session_id = 51 AND login_time = '2026-11-26T17:02:11.482')\n  KILL 51;",
  );
  expect(one("oracle", session("7,70,2"))).toBe("ALTER SYSTEM KILL SESSION '7,70,@2' IMMEDIATE;");
  expect(one("oracle", session("7,70,2'; DROP"))).toBeUndefined();
  expect(one("postgresql", session("1; DROP"))).toBeUndefined();
  expect(one("postgresql", session("prepared o'x", { kind: "prepared" }))).toBe("ROLLBACK PREPARED 'o''x';");
  expect(one("sqlserver", session("-2", { kind: "distributed" }))).toContain("request_session_id = -2");
  expect(one("sqlserver", session("-4", { kind: "latch" }))).toBeUndefined();
  expect(remediesOf("postgresql", { ...branch, cycle: true, direct: [], behind: [] })).toEqual([]);
  expect(whyOf(session("1"), true)).toContain("detects the deadlock");
});
