import { expect, test } from "vitest";
import { adviceOn, dsnOf, hostProblem, portProblem } from "./dsn";

const fields = { host: "db01", port: "", user: "muster", password: "", database: "", tls: "prefer" };

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

test("a host is a name or an address, not the directory of a socket", () => {
  expect(["db01", "10.0.0.5", "fd00::1"].map(hostProblem)).toEqual([null, null, null]);
  expect(hostProblem(" ")).toMatch(/^Enter the host/);
  expect(hostProblem(" /run/postgresql")).toMatch(/sockets/);
});

test("ports are numbers from 1 to 65535, or left out", () => {
  expect(["", "5432", "65535"].map(portProblem)).toEqual([null, null, null]);
  expect(["0", "65536", "-1", "5432a"].every((port) => portProblem(port) !== null)).toBe(true);
});

test("every class of the API has advice", () => {
  for (const known of ["refused", "timeout", "authentication", "tls", "database"])
    expect(adviceOn(known)?.steps.length).toBeGreaterThan(0);
  expect(adviceOn("toString")).toBeNull();
});
