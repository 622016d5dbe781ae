import { expect, test } from "vitest";
import { allOf } from "./allOf";

const finding = {
  check: { id: "PG-S17", title: "PUBLIC may create objects", domain: "Security", severity: "High", references: [] },
  instance: { id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01", name: "orders-01" },
} as const;
const remedy = { summary: "s", impact: null, needsRestart: false, runIn: "app" };
const all = (changes: object) =>
  allOf(finding as never, { ...remedy, statement: null, verify: null, rollback: null, ...changes });

test("fix, check and undo are one runnable text: the undo is a comment, line by line", () => {
  expect(all({ statement: "REVOKE a;\nREVOKE b", verify: "SELECT 1;", rollback: "GRANT a;\nGRANT b;" })).toBe(
    `-- PG-S17: PUBLIC may create objects
-- On orders-01, in database app, as a superuser.

-- Fix
REVOKE a;
REVOKE b;

-- Check: no row is returned once it is fixed
SELECT 1;

-- Undo: restore the measured value. To run it, take the dashes away.
-- GRANT a;
-- GRANT b;
`,
  );
});

test("missing parts are left out, and one part alone has no joint text", () => {
  expect(all({ statement: "ALTER SYSTEM RESET a;", rollback: "x;", needsRestart: true, runIn: null })).toBe(
    `-- PG-S17: PUBLIC may create objects
-- On orders-01, in any database, as a superuser.

-- Fix
ALTER SYSTEM RESET a;
-- Then restart the server.

-- Undo: restore the measured value. To run it, take the dashes away.
-- x;
`,
  );
  expect(all({ verify: "SELECT 1" })).toBeNull();
  expect(all({})).toBeNull();
});

test("a name with a line break stays inside its comment", () => {
  const text = all({ statement: "a;", verify: "b;", runIn: "app\rDROP TABLE t;\r\n--" }) ?? "";
  expect(text.split(/[\r\n]/).filter((line) => line.startsWith("DROP"))).toEqual([]);
});
