import { expect, test } from "vitest";
import { columnOf, directionOf, turned } from "./sorting";

test("a click uses the column's own order, and the next one reverses it", () => {
  expect(turned("name", "-alerts")).toBe("-alerts");
  expect(turned("-alerts", "-alerts")).toBe("alerts");
  expect(turned("alerts", "-alerts")).toBe("-alerts");
  expect(turned("name", "name")).toBe("-name");
  expect(turned("-name", "name")).toBe("name");
  expect([columnOf("-name"), columnOf("name")]).toEqual(["name", "name"]);
});

test("a column shows the order of the list", () => {
  expect([directionOf("-cpu", "cpu"), directionOf("cpu", "cpu"), directionOf("name", "cpu")]).toEqual([
    "descending",
    "ascending",
    "none",
  ]);
});
