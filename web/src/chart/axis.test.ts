import { describe, expect, test } from "vitest";
import { linearAxis, logAxis } from "./axis";

describe("a linear axis", () => {
  test.each([
    [[[100]], 100, [0, 25, 50, 75, 100]],
    [[[3, 12.5]], 100, [0, 25, 50, 75, 100]],
    [[[0, 14]], 0, [0, 5, 10, 15]],
    [[[1, null], [3]], 0, [0, 1, 2, 3]],
    [[[1]], 0, [0, 1]],
    [[[0.42]], 0, [0, 0.2, 0.4, 0.6]],
    [[[1, 0.5]], 0, [0, 0.25, 0.5, 0.75, 1]],
    [[[0]], 0, [0, 1]],
    [[[130.5]], 100, [0, 50, 100, 150]],
    [[[null]], 100, []],
    [[], 0, []],
  ])("of %j", (columns, upTo, ticks) => {
    expect(linearAxis(columns, upTo).ticks).toEqual(ticks);
  });

  test("begins at 0 and leaves room above the greatest value", () => {
    for (const upTo of [0, 100]) {
      const { height } = linearAxis([[100, 7]], upTo);
      expect(height(0)).toBe(0);
      expect(height(100)).toBeLessThan(1);
    }
  });
});

describe("a logarithmic axis", () => {
  test.each([
    [[[900, 58_000]], [100, 1_000, 10_000, 100_000]],
    [[[3, 8]], [2, 5, 10]],
    [[[100]], [50, 100, 200]],
    [[[0.001, 100_000]], [0.0001, 0.1, 100, 100_000]],
    [
      [[null], [40, null]],
      [20, 50],
    ],
    [[[0, 900, 58_000]], [0, 100, 1_000, 10_000, 100_000]],
    [[[0, 0]], [0, 0.5, 1, 2]],
    [[[null]], []],
  ])("of %j", (columns, ticks) => {
    expect(logAxis(columns).ticks).toEqual(ticks);
  });

  test("holds every value, a greater one higher", () => {
    for (const [low, top] of [
      [0.001, 0.001],
      [1, 1],
      [0.999, 1.001],
      [5, 5_000_000],
      [0.02, 86_400_000],
    ] as const) {
      const { height, ticks } = logAxis([[low, top]]);
      expect(height(low), `${low}`).toBeGreaterThan(0);
      expect(height(top), `${top}`).toBeLessThan(1);
      expect(height(top)).toBeGreaterThanOrEqual(height(low));
      expect(ticks.length, `${ticks}`).toBeLessThanOrEqual(6);
    }
  });

  test("a step stands for the same factor everywhere, and 0 is on the base, below all others", () => {
    const { height } = logAxis([[0, 10, 10_000]]);
    expect(height(0)).toBe(0);
    expect(height(1_000) - height(100)).toBeCloseTo(height(100) - height(10), 12);
    expect(height(10)).toBeGreaterThan(height(1));
    expect(height(1)).toBeGreaterThan(0.1);
  });
});
