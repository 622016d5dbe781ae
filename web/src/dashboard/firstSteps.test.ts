import { expect, test } from "vitest";
import { stepsOf } from "./firstSteps";

const now = Date.parse("2026-11-20T12:00:00Z");
const ago = (seconds: number) => new Date(now - seconds * 1_000).toISOString();
const added = {
  name: "shop",
  engine: "postgresql" as const,
  collected: true,
  createdAt: ago(5),
  lastSeenAt: null,
  lastAssessedAt: null,
  lastError: null,
  missingGrants: [],
  missingGrantCount: 0,
  neededGrantCount: 0,
  tags: {},
  declinedGrants: [],
  grantScript: null,
  grantOnPrimary: null,
  server: null,
  status: "unknown" as const,
  statusReason: null,
  parts: [],
  lastErrors: [],
};
const host = { part: "host", database: null, state: "ok", since: ago(3), code: null, sentence: null } as const;
const nothing = { sampledAt: null };
const states = (...asked: Parameters<typeof stepsOf>) =>
  Object.fromEntries(stepsOf(...asked).map(({ key, state }) => [key, state]));
const everything = { connected: "there", sample: "there", assessment: "there", chart: "there", statements: "there" };

test("every step is pending at first, and is done in its order", () => {
  expect(new Set(Object.values(states([added], nothing, now)))).toEqual(new Set(["awaited"]));
  const seen = { sessions: true, statements: true, sampledAt: ago(3) };
  expect(states([{ ...added, lastSeenAt: ago(3), lastAssessedAt: ago(2) }], seen, now)).toEqual(everything);
  expect(states([], nothing, now)).toEqual({});
});

test("an agent's servers are not assessed, and their hosts are a sample", () => {
  const fed = { ...added, collected: false, lastSeenAt: ago(3), parts: [host] };
  expect(states([fed], nothing, now)).toEqual({
    connected: "there",
    sample: "there",
    chart: "there",
  });
});

// F22.
test("a host without any of the servers is no sample of them", () => {
  const chart = { sessions: false, statements: false, sampledAt: null };
  expect(states([added, { ...added, parts: [{ ...host, state: "notMeasured" }] }], chart, now)).toMatchObject({
    sample: "awaited",
    chart: "awaited",
  });
});

test("a server that is down is shown with the reason", () => {
  const reason = { code: "53300", sentence: "db04 refuses connections: full (53300).", seen: "", said: null };
  const [connection] = stepsOf([{ ...added, status: "down", statusReason: reason, lastSeenAt: ago(3) }], nothing, now);
  expect(connection).toMatchObject({ state: "failed", says: expect.stringContaining(reason.sentence) });
});

test("a failed connection is shown with its reason and a link to mend it", () => {
  const [connection, , assessment] = stepsOf([{ ...added, lastError: "no such host" }], nothing, now);
  expect(connection).toMatchObject({ state: "failed", leads: "instance" });
  expect(connection?.says).toBe("Muster cannot connect to shop: no such host. It goes on trying.");
  expect(assessment?.state).toBe("failed");
  const silent = stepsOf([{ ...added, lastSeenAt: ago(61) }], nothing, now)[0];
  expect(silent).toMatchObject({ state: "failed", leads: "instance", at: ago(61) });
});

test("missing statements have a reason, and a link to the missing grant", () => {
  const grant = {
    object: "pg_stat_statements",
    statement: "CREATE EXTENSION pg_stat_statements",
    checks: [],
    database: null,
    needed: true,
    reveals: null,
    declinable: false,
  };
  const last = (...asked: Parameters<typeof stepsOf>) => stepsOf(...asked).at(-1);
  expect(last([{ ...added, missingGrants: [grant] }], nothing, now)).toMatchObject({
    state: "failed",
    leads: "grants",
  });
  for (const [engine, object, says] of [
    [
      "sqlserver",
      "sessions, and statements in the plan cache",
      "Muster may not read the query stores or the plan cache.",
    ],
    ["oracle", "GV$SQLSTATS_PLAN_HASH", "Muster may not read V$SQLSTATS or V$SQL."],
  ] as const) {
    expect(last([{ ...added, engine, missingGrants: [{ ...grant, object }] }], nothing, now)?.says).toBe(says);
  }
  expect(last([{ ...added, engine: "oracle", missingGrants: [grant] }], nothing, now)?.state).toBe("awaited");
  const seen = { ...nothing, sessions: true, statements: false };
  expect(last([{ ...added, createdAt: ago(170) }], seen, now)?.state).toBe("awaited");
  expect(last([{ ...added, createdAt: ago(181) }], seen, now)?.state).toBe("failed");
});
