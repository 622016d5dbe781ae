import { expect, test } from "vitest";
import { axisLabels, bucketLabel, midnights, partialText } from "./times";

const at = (day: number, h = 0, m = 0, s = 0) => Date.UTC(2026, 10, day, h, m, s);

test.each([
  ["1h", at(20, 11), at(20, 11, 37, 2), "partial (37 of 60 min)"],
  ["1m", at(20, 11, 37), at(20, 11, 37, 12), "partial (12 of 60 s)"],
  ["1d", at(20), at(20, 14, 59), "partial (14 of 24 h)"],
  ["1w", at(16), at(19, 12), "partial (3 of 7 days)"],
  ["1h", at(20, 11), at(20, 13), "partial (60 of 60 min)"],
] as const)("how much of a bucket of %s there is", (size, start, generated, text) => {
  expect(partialText(start, generated, size)).toBe(text);
});

test("buckets are named on a 24 h clock", () => {
  expect(bucketLabel(at(20, 0, 5), "1m")).toMatch(/20.*, 00:05$/);
  expect(bucketLabel(at(20, 22), "1h")).toMatch(/20.*, 22:00–23:00$/);
  expect(bucketLabel(at(20), "1d")).not.toContain(":");
  expect(bucketLabel(at(16), "1w")).toMatch(/16.* – .*22/);
});

test("the axis shows the date under the first time of each day", () => {
  const labels = axisLabels([at(20, 18), at(20, 21), at(21), at(21, 3)], 3 * 3_600_000);
  expect(labels.map((label) => label.includes("\n"))).toEqual([true, false, true, false]);
  expect(labels[2]).toMatch(/^00:00\n/);
});

test("midnights inside a window", () => {
  expect(midnights(at(20, 6), at(22, 6))).toEqual([at(21), at(22)]);
  expect(midnights(at(20), at(20, 6))).toEqual([]);
});
