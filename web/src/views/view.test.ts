import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { isOwn, mayChange, partsOf, queryOf, suggested } from "./view";

test.each([
  ["/", { to: "/", search: {} }],
  [
    "/alerts?status=open&tag=env:prod&tag=env:test",
    { to: "/alerts", search: { status: ["open"], tag: ["env:prod", "env:test"] } },
  ],
  ["/?instanceId=", { to: "/", search: { instanceId: [""] } }],
])("the view “%s” leads to its page, and is kept from there as it was", (query, parts) => {
  expect(partsOf(query)).toEqual(parts);
  expect(queryOf({ pathname: parts.to, search: parts.search })).toBe(query);
});

test("views are changed by their author, and shared ones by administrators", () => {
  const reader = (id: string, permissions: string[]) => ({ member: { id } as Schemas["Member"], permissions });
  const author = { id: "ana", name: "Ana" };
  expect(isOwn({ author }, reader("ana", []))).toBe(true);
  expect(isOwn({ author: null }, reader("ana", []))).toBe(false);
  expect(mayChange({ author }, reader("ana", []))).toBe(true);
  expect(mayChange({ author }, reader("bo", ["metrics:read"]))).toBe(false);
  expect(mayChange({ author }, reader("bo", ["admin"]))).toBe(true);
  expect(mayChange({ author: null }, reader("bo", ["admin"]))).toBe(true);
});

test("the suggested name of a view has its page and its tags", () => {
  expect(suggested("Alerts")).toBe("Alerts");
  expect(suggested("Alerts", ["env:prod"])).toBe("Alerts · env:prod");
  expect(suggested("Alerts", ["x".repeat(120)])).toHaveLength(100);
});
