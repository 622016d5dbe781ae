import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { label, matches } from "./filterKeys";

const dwh = { name: "demo-ora-dwh-01", engine: "oracle", version: "19.24", host: "rack7" } as Schemas["Instance"];
const erp = { name: "erp", engine: "sqlserver", version: null, host: null } as Schemas["Instance"];

test.each([
  ["DWH", true, false],
  ["oracle", true, false],
  ["SQL Server", false, true],
  ["sqlserver", false, true],
  ["19.2", true, false],
  ["RACK", true, false],
  [" erp ", false, true],
  ["", true, true],
  ["%", false, false],
])("%o finds the Oracle instance: %s, the SQL Server one: %s", (query, first, second) => {
  expect(matches(dwh, query)).toBe(first);
  expect(matches(erp, query)).toBe(second);
});

test.each([
  [{}, "All instances"],
  [{ instanceId: [] }, "No instance matches"],
  [{ tag: [] }, "No instance matches"],
  [{ instanceId: ["a"], tag: [] }, "No instance matches"],
  [{ tag: ["env:prod"] }, "All with env:prod"],
  [{ tag: ["env:prod", "team:data"] }, "All with env:prod, team:data"],
  [{ instanceId: ["a"] }, "demo-ora-dwh-01"],
  [{ instanceId: ["a", "b"] }, "2 of 9"],
  [{ instanceId: ["a", "b"], tag: ["env:prod"] }, "2 of 9 with env:prod"],
])("the filter %o reads “%s”", (servers, text) => {
  expect(label(servers, [dwh], 9)).toBe(text);
});
