import { expect, test } from "vitest";
import { adviceOn } from "./advice";
import { dsnOf, fieldProblems, hostProblem, portProblem } from "./dsn";
import { connectedEngine } from "./engines";

const fields = {
  engine: "postgresql",
  host: "db01",
  port: "",
  user: "muster",
  password: "",
  database: "",
  tls: "prefer",
  certificateName: "",
  readOnly: false,
  entra: false,
  namedBy: "service" as const,
};

test.each([
  [{}, "postgres://muster@db01/?sslmode=prefer"],
  [
    { port: "5433", password: "s3cret", database: "orders" },
    "postgres://muster:s3cret@db01:5433/orders?sslmode=prefer",
  ],
  [{ password: "a@b:c/d?e#f %" }, "postgres://muster:a%40b%3Ac%2Fd%3Fe%23f%20%25@db01/?sslmode=prefer"],
  [{ host: "fd00::1", port: "5432" }, "postgres://muster@[fd00::1]:5432/?sslmode=prefer"],
  [{ host: " db01 ", tls: "verify-full" }, "postgres://muster@db01/?sslmode=verify-full"],
])("a connection of %j is written as a URL", (given, want) => {
  expect(dsnOf({ ...fields, ...given })).toBe(want);
});

test.each([
  [{}, "sqlserver://muster@db01?encrypt=true"],
  [
    { port: "1434", password: "p@ss/word", database: "my shop" },
    "sqlserver://muster:p%40ss%2Fword@db01:1434?database=my+shop&encrypt=true",
  ],
  [{ tls: "trust" }, "sqlserver://muster@db01?encrypt=true&trustServerCertificate=true"],
  [{ tls: "strict", host: "fd00::1" }, "sqlserver://muster@[fd00::1]?encrypt=strict"],
  [
    { tls: "disable", certificateName: " sql.example.org ", readOnly: true },
    "sqlserver://muster@db01?encrypt=disable&hostNameInCertificate=sql.example.org&applicationIntent=ReadOnly",
  ],
  [{ host: " db01\\SQL$2 " }, "sqlserver://muster@db01/SQL%242?encrypt=true"],
  [
    { user: "1-2@t", password: "s", entra: true },
    "sqlserver://1-2%40t:s@db01?encrypt=true&fedauth=ActiveDirectoryServicePrincipal",
  ],
  [{ certificateName: "a&b=c" }, "sqlserver://muster@db01?encrypt=true&hostNameInCertificate=a%26b%3Dc"],
])("a connection of %j to SQL Server is written as a URL", (given, want) => {
  expect(dsnOf({ ...fields, engine: "sqlserver", tls: "true", ...given })).toBe(want);
});

test.each([
  [{ database: "orders.example.com" }, "oracle://muster@db01/orders.example.com?sslmode=disable"],
  [
    { port: "2484", user: "C##MUSTER", password: "s#3", database: "CDB$ROOT", tls: "verify-full" },
    "oracle://C%23%23MUSTER:s%233@db01:2484/CDB%24ROOT?sslmode=verify-full",
  ],
  [{ database: "ORCL", namedBy: "sid" as const }, "oracle://muster@db01/?sid=ORCL&sslmode=disable"],
])("a connection of %j to Oracle is written as a URL", (given, want) => {
  expect(dsnOf({ ...fields, engine: "oracle", tls: "disable", ...given })).toBe(want);
});

test("a host is a name or an address, not the directory of a socket and not a named instance", () => {
  expect(["db01", "10.0.0.5", "fd00::1"].map(hostProblem)).toEqual([null, null, null]);
  expect(hostProblem(" ")).toMatch(/^Enter the host/);
  expect(hostProblem(" /run/postgresql")).toMatch(/sockets/);
  expect(hostProblem("db01\\SQLEXPRESS")).toMatch(/port of its own/);
});

test("a named instance of SQL Server has its name or a port, and its password is sent only encrypted", () => {
  const instance = { ...fields, engine: "sqlserver", host: "db01\\SQLEXPRESS", tls: "true" };
  expect(fieldProblems(instance)).toEqual({});
  expect(fieldProblems({ ...instance, port: "1433" }).port).toMatch(/SQL Server Browser/);
  expect(fieldProblems({ ...instance, tls: "disable" }).tls).toMatch(/readable/);
  expect(fieldProblems({ ...instance, host: "db01\\a b" }).host).toMatch(/port of its own/);
  expect(fieldProblems({ ...instance, engine: "oracle", password: "x", database: "y" }).host).toMatch(
    /port of its own/,
  );
  expect(fieldProblems({ ...instance, entra: true }).user).toMatch(/client@tenant/);
  expect(fieldProblems({ ...instance, entra: true, user: "1-2@t" })).toEqual({});
});

test("ports are numbers from 1 to 65535, or left out", () => {
  expect(["", "5432", "65535"].map(portProblem)).toEqual([null, null, null]);
  expect(["0", "65536", "-1", "5432a"].every((port) => portProblem(port) !== null)).toBe(true);
});

test("a requirement of an engine is shown at its field", () => {
  expect(fieldProblems(fields)).toEqual({});
  expect(Object.keys(fieldProblems({ ...fields, engine: "oracle" }))).toEqual(["password", "database"]);
  const windows = { ...fields, engine: "sqlserver", user: "CORP\\muster" };
  expect(fieldProblems({ ...windows, password: "x" })).toEqual({});
  expect(fieldProblems({ ...windows, password: "" }).password).toMatch(/Windows/);
  expect(dsnOf({ ...windows, password: "x" })).toContain("sqlserver://CORP%5Cmuster:x@");
  expect(fieldProblems({ ...fields, engine: "oracle", password: "x", database: "ORCL" })).toEqual({});
});

const engines = ["postgresql", "sqlserver", "oracle"];

test("every class of the API has advice for every engine, at an existing field", () => {
  for (const engine of engines) {
    for (const known of ["refused", "timeout", "authentication", "tls", "database"]) {
      const advice = adviceOn(engine, known);
      expect(advice?.steps.length, `${engine} ${known}`).toBeGreaterThan(1);
      expect(Object.hasOwn(fields, advice?.field ?? "")).toBe(true);
    }
  }
  expect(adviceOn("postgresql", "toString")).toBeNull();
});

test("each engine's usual mode is in its list, and its example begins like its URLs", () => {
  for (const engine of engines) {
    const e = connectedEngine(engine);
    expect(e?.tls.map(({ value }) => value)).toContain(e?.usualTls);
    expect(e?.url).toMatch(e?.scheme as RegExp);
  }
  expect(connectedEngine("mongodb")).toBeNull();
  expect(connectedEngine("toString")).toBeNull();
});

test("an engine that Muster does not connect to has no connection string", () => {
  for (const engine of ["mongodb", "mysql", "db2", "toString"]) expect(dsnOf({ ...fields, engine })).toBe("");
});
