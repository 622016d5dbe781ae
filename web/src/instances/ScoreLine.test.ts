import { expect, test } from "vitest";
import { inWords, moved, runs, scaleOf } from "./ScoreLine";

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

test("a line has its own scale, on which noise stays flat", () => {
  expect(scaleOf([80, null, 82])).toEqual({ start: 12, points: 14 });
  expect(scaleOf([90, 40])).toEqual({ start: 10, points: 50 });
  expect(scaleOf([100])).toEqual({ start: -7, points: 14 });
});

test("the change of a score is shown if two days are known", () => {
  expect([moved([null, 81, null, 54]), moved([77, 82]), moved([77, 70, 77]), moved([null, 77])]).toEqual([
    "−27",
    "+5",
    "±0",
    "",
  ]);
});
