import { expect, test } from "vitest";
import { columnOf, directionOf, turned } from "./sorting";

test("a click orders by what a column begins with, and the next one turns that round", () => {
  expect(turned("name", "-alerts")).toBe("-alerts");
  expect(turned("-alerts", "-alerts")).toBe("alerts");
  expect(turned("alerts", "-alerts")).toBe("-alerts");
  expect(turned("name", "name")).toBe("-name");
  expect(turned("-name", "name")).toBe("name");
  expect([columnOf("-name"), columnOf("name")]).toEqual(["name", "name"]);
});

test("a column says how the list is ordered by it", () => {
  expect([directionOf("-cpu", "cpu"), directionOf("cpu", "cpu"), directionOf("name", "cpu")]).toEqual([
    "descending",
    "ascending",
    "none",
  ]);
});
