import { expect, test } from "vitest";
import { subjectsOf } from "./MissingGrants";

const grant = (object: string, checks: string[], more = {}) => ({
  object,
  statement: "GRANT …",
  checks,
  database: null,
  needed: false,
  reveals: null,
  declinable: true,
  ...more,
});

test("F11: grants that differ in their database alone are one", () => {
  expect(
    subjectsOf([
      grant("pg_user_mapping in database orders", ["PG-S35"], { reveals: "passwords" }),
      grant("pg_user_mapping in database billing", ["PG-S35"], { reveals: "passwords" }),
      grant("what members of pg_read_all_stats see", ["PG-P01"], { needed: true, declinable: false, statement: "" }),
    ]),
  ).toEqual([
    {
      subject: "pg_user_mapping",
      databases: ["orders", "billing"],
      needed: false,
      reveals: "passwords",
      declinable: true,
      stated: true,
      checks: ["PG-S35"],
    },
    {
      subject: "what members of pg_read_all_stats see",
      databases: [],
      needed: true,
      reveals: null,
      declinable: false,
      stated: false,
      checks: ["PG-P01"],
    },
  ]);
});
