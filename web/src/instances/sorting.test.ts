import { expect, test } from "vitest";
import { directionOf, turned } from "./sorting";

test("a click on a column puts the troubled ones first, and a second turns that round", () => {
  expect(turned("name", "score")).toBe("score");
  expect(turned("score", "score")).toBe("-score");
  expect(turned("-score", "score")).toBe("score");
  expect(turned("score", "alerts")).toBe("-alerts");
  expect(turned("-alerts", "alerts")).toBe("alerts");
  expect(turned("name", "name")).toBe("-name");
  expect([directionOf("-cpu", "cpu"), directionOf("cpu", "cpu"), directionOf("name", "cpu")]).toEqual([
    "descending",
    "ascending",
    "none",
  ]);
});
