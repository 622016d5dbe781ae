import { expect, test } from "vitest";
import { type Instance, standingOf } from "./standing";

const now = new Date("2026-11-20T12:00:00Z");
const heard: Instance = {
  id: "1",
  name: "pg-1",
  engine: "postgresql",
  version: "16.1",
  host: "db01",
  createdAt: "2026-11-01T00:00:00Z",
  active: true,
  databaseCount: 1,
  collected: true,
  lastSeenAt: "2026-11-20T11:59:30Z",
  lastAssessedAt: "2026-11-20T06:00:00Z",
  lastClassifiedAt: null,
  lastError: null,
  lastErrorAt: null,
  missingGrants: [],
  missingGrantCount: 0,
  neededGrantCount: 0,
  declinedGrants: [],
  grantScript: null,
  grantOnPrimary: null,
  server: null,
  health: null,
  agent: null,
};

test.each<[string, Partial<Instance>]>([
  ["Active", {}],
  ["Active", { lastSeenAt: "2026-11-20T11:55:00Z" }],
  ["Silent", { lastSeenAt: "2026-11-20T11:54:59Z" }],
  ["Inactive", { active: false, lastSeenAt: "2026-11-19T00:00:00Z", lastError: "refused" }],
  ["Unreachable", { lastError: "Nothing takes connections at db01:5432." }],
  ["First assessment", { lastAssessedAt: null, lastSeenAt: null }],
  ["Active", { collected: false, lastAssessedAt: null, lastSeenAt: null }],
])("a server is %s when %j", (name, given) => {
  expect(standingOf({ ...heard, ...given }, 5, now).name).toBe(name);
});
