import { expect, test } from "vitest";
import { grantsFor } from "./FirstGrants";

test("what is to be run has no place left to fill in", () => {
  for (const user of ["", "muster", "user", 'quo"te', "Upper Case"]) expect(grantsFor(user)).not.toMatch(/…|<|\.\.\./);
});

test("a name that may be a keyword is quoted", () => {
  expect(grantsFor(" muster ")).toContain("CREATE ROLE muster LOGIN;");
  expect(grantsFor("user")).toContain('GRANT pg_monitor TO "user";');
  expect(grantsFor('quo"te')).toContain('\\password "quo""te"');
});
