import { describe, expect, test } from "vitest";
import { fieldOf, readCustom } from "./custom";
import { bucketLengths, bucketSizeOf, isCustom, presets, stepped, windowBefore, windowOf } from "./window";
import { windowLabel } from "./words";

const noon = new Date("2026-11-20T12:00:00Z");
const hours = (n: number) => n * 3_600_000;

describe("a preset", () => {
  test.each([
    ["15m", 0.25, "1m"],
    ["1h", 1, "1m"],
    ["3h", 3, "1m"],
    ["6h", 6, "1m"],
    ["12h", 12, "1m"],
    ["24h", 24, "1m"],
    ["2d", 48, "1h"],
    ["7d", 7 * 24, "1h"],
    ["30d", 30 * 24, "1d"],
  ] as const)("%s ends at the anchor", (range, length, bucketSize) => {
    expect(windowOf({ range }, noon)).toEqual({
      from: new Date(noon.getTime() - hours(length)).toISOString(),
      to: noon.toISOString(),
      bucketSize,
      preset: range,
    });
  });

  test("moves with the anchor", () => {
    const later = new Date(noon.getTime() + 600_000);
    expect(windowOf({ range: "1h" }, later).to).toBe(later.toISOString());
  });

  test("is the default for no range, or half a range", () => {
    expect(windowOf({}, noon).preset).toBe("24h");
    expect(windowOf({ from: "2026-11-19T00:00:00.000Z" }, noon).preset).toBe("24h");
  });
});

describe("a custom range", () => {
  const range = { from: "2026-11-01T00:00:00.000Z", to: "2026-11-02T00:00:00.000Z" };
  test("stays where it is", () => {
    expect(windowOf(range, noon)).toEqual({ ...range, bucketSize: "1m", preset: null });
    expect(windowOf(range, new Date())).toEqual(windowOf(range, noon));
  });
  test("is invalid in the wrong order, or beside a preset", () => {
    expect(isCustom({ from: range.to, to: range.from })).toBe(false);
    expect(isCustom({ ...range, range: "1h" })).toBe(false);
  });
});

test.each([
  [24, "1m"],
  [24 + 1 / 3600, "1h"],
  [14 * 24, "1h"],
  [14 * 24 + 1, "1d"],
  [180 * 24, "1d"],
  [180 * 24 + 1, "1w"],
] as const)("%d hours are read by %s", (length, size) => {
  expect(bucketSizeOf(noon, new Date(noon.getTime() + hours(length)))).toBe(size);
});

test("no window of this century has more buckets than the API gives", () => {
  const [start, end] = [new Date("2000-01-01T00:00:00Z"), new Date("2100-01-01T00:00:00Z")];
  const windows = [...presets.map((range) => windowOf({ range }, noon)), { from: start, to: end }];
  for (const { from, to } of windows) {
    const size = bucketSizeOf(new Date(from), new Date(to));
    expect((new Date(to).getTime() - new Date(from).getTime()) / bucketLengths[size]).toBeLessThan(11_000);
  }
});

describe("the window before", () => {
  test("is as long, and ends where this one begins", () => {
    expect(windowBefore(windowOf({ range: "1h" }, noon))).toEqual({
      from: "2026-11-20T10:00:00.000Z",
      to: "2026-11-20T11:00:00.000Z",
    });
  });
  test("lies whole buckets back, so that each bucket has a counterpart", () => {
    const odd = { from: "2026-11-20T10:00:20.000Z", to: "2026-11-20T10:02:50.000Z" };
    expect(windowBefore(windowOf(odd, noon))).toEqual({
      from: "2026-11-20T09:57:20.000Z",
      to: "2026-11-20T09:59:50.000Z",
    });
  });
});

describe("a window back or forward", () => {
  const step = (range: Parameters<typeof windowOf>[0], ...directions: (1 | -1)[]) =>
    directions.reduce((at, direction) => stepped(windowOf(at, noon), direction, noon) ?? at, range);
  test("is as long, and right beside", () => {
    expect(step({ range: "6h" }, -1)).toEqual({ from: "2026-11-20T00:00:00.000Z", to: "2026-11-20T06:00:00.000Z" });
    expect(step({ range: "6h" }, -1, -1, 1)).toEqual(step({ range: "6h" }, -1));
  });
  test("leads back to the preset, from near enough to now too", () => {
    expect(step({ range: "6h" }, -1, -1, 1, 1)).toEqual({ range: "6h" });
    const almost = { from: "2026-11-20T09:59:30.000Z", to: "2026-11-20T10:59:30.000Z" };
    expect(step(almost, 1)).toEqual({ range: "1h" });
  });
  test("ends now without such a preset, and there is none beyond", () => {
    const odd = { from: "2026-11-20T09:10:00.000Z", to: "2026-11-20T11:00:00.000Z" };
    expect(step(odd, 1)).toEqual({ from: "2026-11-20T10:10:00.000Z", to: noon.toISOString() });
    for (const last of [step(odd, 1), { range: "24h" } as const, { from: odd.from, to: "2026-11-21T00:00:00.000Z" }]) {
      expect(stepped(windowOf(last, noon), 1, noon)).toBeUndefined();
    }
  });
});

describe("the custom range's form", () => {
  test("reads back what it shows", () => {
    const instant = "2026-11-19T06:12:00.000Z";
    expect(new Date(fieldOf(instant)).toISOString()).toBe(instant);
  });
  test.each([
    ["2026-11-19T00:00", "2026-11-20T00:00", null],
    ["2026-11-19T00:00", "2027-01-01T00:00", null],
    ["", "2026-11-20T00:00", { from: "Enter a date and a time." }],
    ["2026-11-19T00:00", "", { to: "Enter a date and a time." }],
    ["2026-11-20T00:00", "2026-11-20T00:00", { to: "The end must be after the start." }],
    ["2026-11-21T00:00", "2026-11-22T00:00", { from: "The start is in the future." }],
    ["0026-11-19T00:00", "2026-11-20T00:00", { from: "Choose a start after 1999." }],
  ])("from %s to %s", (from, to, errors) => {
    expect(readCustom(from, to, noon).errors).toEqual(errors);
  });
});

test("a window is labeled by its preset or its bounds, with the year if it is another", () => {
  const custom = (from: string, to: string) => windowLabel(windowOf({ from, to }, noon), noon);
  expect(windowLabel(windowOf({ range: "6h" }, noon))).toBe("Last 6 hours");
  expect(custom("2026-11-19T06:00:00.000Z", "2026-11-20T11:37:00.000Z")).toMatch(/06:00.*–.*11:37/);
  expect(custom("2026-11-19T06:00:00.000Z", "2026-11-20T11:37:00.000Z")).not.toContain("2026");
  expect(custom("2025-12-31T06:00:00.000Z", "2026-01-01T11:37:00.000Z")).toMatch(/2025.*–.*2026/);
});
