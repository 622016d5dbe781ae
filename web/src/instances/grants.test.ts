import { expect, test } from "vitest";
import { grantsFor } from "./grants";

const postgresql = (user: string) => grantsFor("postgresql", user)[0]?.text ?? "";

test("a script has no placeholder left", () => {
  for (const user of ["", "muster", "user", 'quo"te', "Upper Case"]) expect(postgresql(user)).not.toMatch(/…|<|\.\.\./);
});

test("a name that may be a keyword is quoted", () => {
  expect(postgresql(" muster ")).toContain("CREATE ROLE muster LOGIN;");
  expect(postgresql("user")).toContain('GRANT pg_monitor TO "user";');
  expect(postgresql('quo"te')).toContain('\\password "quo""te"');
});

test("F11: the script for PostgreSQL is grants.sql, for the entered role and database", () => {
  const [script] = grantsFor("postgresql", "it's", "names", "shop");
  expect(script?.text).toMatch(/^\\connect "shop"\n/);
  for (const line of [
    `CREATE ROLE "it's" LOGIN;`,
    "account name := 'it''s';",
    `GRANT SELECT ON pg_catalog.pg_hba_file_rules TO "it's";`,
    `-- GRANT SELECT ON pg_catalog.pg_user_mapping TO "it's";`,
    "CREATE EXTENSION IF NOT EXISTS pg_stat_statements;",
  ])
    expect(script?.text).toContain(line);
  expect(script?.text).not.toContain("pg_read_all_data");
  expect(grantsFor("postgresql", "", "values")[0]?.text).toContain("GRANT pg_read_all_data TO muster;");
});

test("SQL Server's scripts are for the entered login, one for each version", () => {
  const scripts = grantsFor("sqlserver", "bra]cket$&");
  expect(scripts.map(({ label }) => label)).toEqual(["2022 and newer", "2016 to 2019", "Azure SQL Database"]);
  for (const { text } of scripts) {
    expect(text).not.toContain("[muster]");
    expect(text).toMatch(/CREATE (LOGIN|USER) \[bra\]\]cket\$&\] WITH PASSWORD/);
  }
  expect(scripts[0]?.text).toContain("GRANT VIEW SERVER PERFORMANCE STATE TO ");
  expect(scripts[1]?.text).toContain("GRANT VIEW SERVER STATE TO ");
  expect(scripts[2]?.text).toContain("GRANT VIEW DATABASE STATE TO ");
});

test("F3: an account of Windows gets a login without a password", () => {
  const scripts = grantsFor("sqlserver", "CORP\\muster");
  expect(scripts[0]?.text).toContain("CREATE LOGIN [CORP\\muster] FROM WINDOWS;");
  expect(scripts.some(({ text }) => text.includes("<password>"))).toBe(false);
});

test("Oracle's script is for the entered account, common or not", () => {
  const of = (user: string) => grantsFor("oracle", user)[0]?.text ?? "";
  expect(of("")).toContain("CREATE USER muster IDENTIFIED");
  expect(of("watcher")).toMatch(/GRANT CREATE SESSION TO watcher;[\s\S]*CREATE USER c##muster IDENTIFIED/);
  expect(of("C##WATCHER")).toMatch(/CREATE USER muster IDENTIFIED[\s\S]*CREATE USER C##WATCHER IDENTIFIED/);
  for (const name of ["watcher", "C##WATCHER"]) {
    expect(of(name)).toContain(`GRANT SELECT ON SYS.GV_$SESSION TO ${name};`);
    expect(of(name)).not.toMatch(/c##C##|c##watcher/);
  }
  expect(of("watcher")).toMatch(/SYS.DBA_USERS TO watcher;[\s\S]*SYS.DBA_USERS TO c##muster CONTAINER/);
  expect(of("C##WATCHER")).toMatch(/SYS.DBA_USERS TO muster;[\s\S]*SYS.DBA_USERS TO C##WATCHER CONTAINER/);
  expect(of('od"d')).toContain('CREATE USER "od""d" IDENTIFIED');
});

test("grants on the rows of tables are in a script only if rows are sampled", () => {
  for (const [engine, opens] of [
    ["sqlserver", /GRANT SELECT( ALL USER SECURABLES)? TO \[muster\];/],
    ["oracle", /GRANT SELECT ANY TABLE TO muster;/],
  ] as const) {
    for (const { text } of grantsFor(engine, "", "names")) expect(text).not.toMatch(opens);
    for (const { text } of grantsFor(engine, "", "values")) expect(text).toMatch(opens);
    for (const { text } of grantsFor(engine, "", "values")) expect(text).not.toContain("--values");
  }
});

test("there is no script of an engine that Muster does not connect to", () => {
  expect(grantsFor("mongodb", "")).toEqual([]);
  expect(grantsFor("toString", "")).toEqual([]);
});
