import { expect, test } from "vitest";
import { inWords, runs } from "./ScoreLine";

test("a day without a score is a gap", () => {
  expect(runs([null, 70, 80, null, null, 90, null])).toEqual([
    [
      [1, 30],
      [2, 20],
    ],
    [[5, 10]],
  ]);
  expect(runs([null, null])).toEqual([]);
  expect(runs([0])).toEqual([[[0, 100]]]);
});

test("the line in words", () => {
  expect(inWords([null, 70, 40, null, 90])).toBe(
    "Score in the last 5 days: first 70, last 90, lowest 40; 3 days assessed",
  );
  expect(inWords([null])).toBe("No score in the last 1 day");
});
