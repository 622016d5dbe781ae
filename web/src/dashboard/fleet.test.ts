import { describe, expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { alertScope, awaitsFirst, countOf } from "./fleet";

const server = (id: string, name: string, rest: Partial<Schemas["Instance"]> = {}): Schemas["Instance"] => ({
  id,
  name,
  owner: null,
  mayAct: true,
  engine: "postgresql",
  version: null,
  host: null,
  createdAt: "2026-01-01T00:00:00Z",
  active: true,
  databaseCount: 1,
  collected: false,
  lastSeenAt: "2026-11-20T11:59:00Z",
  lastAssessedAt: null,
  lastClassifiedAt: null,
  lastError: null,
  lastErrorAt: null,
  status: "up",
  statusSince: "2026-11-18T00:00:00Z",
  statusReason: null,
  triedAt: "2026-11-20T11:59:00Z",
  parts: [],
  lastErrors: [],
  missingGrants: [],
  missingGrantCount: 0,
  neededGrantCount: 0,
  tags: {},
  declinedGrants: [],
  grantScript: null,
  grantOnPrimary: null,
  server: null,
  health: null,
  agent: null,
  unavailable: [],
  ...rest,
});

describe("alertScope", () => {
  const orders = server("1", "orders");
  const billing = server("2", "billing");
  const twin = server("3", "billing");

  test("names, if each is unique in the organization", () => {
    expect(alertScope(["1", "2"], [orders, billing], [orders, billing])).toEqual({
      instanceName: ["orders", "billing"],
    });
  });
  test("ids, if a server outside the filter shares a name", () => {
    expect(alertScope(["1", "2"], [orders, billing], [orders, billing, twin])).toEqual({ instanceId: ["1", "2"] });
  });
  test("ids, if one is unknown: the filter narrows, and never widens", () => {
    expect(alertScope(["1", "9"], [orders], [orders, billing])).toEqual({ instanceId: ["1", "9"] });
  });
});

// F1.
test("only a server with the status up reports, whatever its host sent", () => {
  const statuses = ["up", "down", "unknown", "silent", "inactive", "down"] as const;
  const all = statuses.map((status, n) =>
    server(`${n}`, status, { status, lastSeenAt: "2026-11-20T11:59:59Z", active: status !== "inactive" }),
  );
  expect(countOf(all)).toEqual({ up: 1, down: 2, silent: 1, unknown: 1, inactive: 1 });
});

test("values are pending while all active servers are new", () => {
  const now = Date.parse("2026-11-20T12:00:00Z");
  const added = (seconds: number, active = true) => ({
    createdAt: new Date(now - seconds * 1_000).toISOString(),
    active,
  });
  expect(awaitsFirst([added(20)], now)).toBe(true);
  expect(awaitsFirst([added(20), added(9_000, false)], now)).toBe(true);
  expect(awaitsFirst([added(20), added(9_000)], now)).toBe(false);
  expect(awaitsFirst([added(180)], now)).toBe(false);
  expect(awaitsFirst([added(20, false)], now)).toBe(false);
  expect(awaitsFirst([], now)).toBe(false);
});
