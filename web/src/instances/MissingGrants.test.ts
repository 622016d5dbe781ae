import { expect, test } from "vitest";
import { placesOf } from "./MissingGrants";

test("grants are given in the database where they are missing, each once", () => {
  expect(
    placesOf([
      { object: "pg_authid in database orders", statement: "GRANT SELECT ON pg_authid TO muster;", checks: ["PG-S11"] },
      {
        object: "pg_hba_file_rules in database orders",
        statement: "GRANT SELECT ON pg_hba_file_rules TO muster",
        checks: ["PG-S02", "PG-S01"],
      },
      { object: "pg_stat_statements", statement: "GRANT pg_read_all_stats TO muster", checks: [] },
      { object: "pg_authid in database orders", statement: "GRANT SELECT ON pg_authid TO muster", checks: ["PG-S11"] },
    ]),
  ).toEqual([
    {
      database: "orders",
      statements: ["GRANT SELECT ON pg_authid TO muster;", "GRANT SELECT ON pg_hba_file_rules TO muster;"],
      objects: ["pg_authid", "pg_hba_file_rules"],
      checks: ["PG-S01", "PG-S02", "PG-S11"],
    },
    { database: null, statements: ["GRANT pg_read_all_stats TO muster;"], objects: ["pg_stat_statements"], checks: [] },
  ]);
});

test("what is said in a comment is no statement to be closed", () => {
  const said = "-- VIEW DATABASE STATE is denied in it: REVOKE that there.";
  expect(placesOf([{ object: "the query store of shop", statement: said, checks: [] }])[0]?.statements).toEqual([said]);
});

test("a grant that nothing states has no statement, and is apart", () => {
  expect(
    placesOf([
      { object: "VIEW ANY DEFINITION", statement: "GRANT VIEW ANY DEFINITION TO [muster];", checks: ["MS-05"] },
      { object: "CONTROL SERVER", statement: "", checks: ["MS-48"] },
    ]),
  ).toEqual([
    {
      database: null,
      statements: ["GRANT VIEW ANY DEFINITION TO [muster];"],
      objects: ["VIEW ANY DEFINITION"],
      checks: ["MS-05"],
    },
    { database: null, statements: [], objects: ["CONTROL SERVER"], checks: ["MS-48"] },
  ]);
});
