import { expect, test } from "vitest";
import { turned } from "../ui/sorting";
import { first } from "./sorting";

test("a click on a column puts troubled servers first, and a second one reverses the order", () => {
  expect(turned("name", first.score)).toBe("score");
  expect(turned("score", first.score)).toBe("-score");
  expect(turned("-score", first.score)).toBe("score");
  expect(turned("score", first.alerts)).toBe("-alerts");
  expect(turned("-alerts", first.alerts)).toBe("alerts");
  expect(turned("name", first.name)).toBe("-name");
});
