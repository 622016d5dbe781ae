import { describe, expect, test } from "vitest";
import { bucketAt, lonely, type Model, modelOf, stack, ticksOf } from "./model";

const hour = 3_600_000;
const at = (h: number, m = 0) => Date.UTC(2026, 10, 20, h, m);
const iso = (time: number) => new Date(time).toISOString();

function model(columns: (number | null)[][], change: Partial<Parameters<typeof modelOf>[0]> = {}): Model {
  return modelOf({
    window: { from: iso(at(8, 30)), to: iso(at(11, 30)) },
    bucketSize: "1h",
    bucketStarts: [8, 9, 10, 11].map((h) => iso(at(h))),
    lastBucketPartial: false,
    generatedAt: iso(at(11, 30)),
    series: columns.map((values, i) => ({ key: `s${i}`, label: `S${i}`, color: "blue", values })),
    stacked: false,
    hidden: new Set(),
    ...change,
  });
}

describe("stacks", () => {
  test("a null is a gap in its own area and adds nothing to those above", () => {
    expect(
      stack([
        [1, null, 0],
        [2, 2, null],
        [4, 4, 4],
      ]),
    ).toEqual([
      [1, null, 0],
      [3, 2, null],
      [7, 6, 4],
    ]);
  });

  test("a total is of what has data, and null where nothing has", () => {
    const { totals } = model(
      [
        [1, null, null, 0],
        [2, 2, null, 0],
      ],
      { stacked: true },
    );
    expect(totals).toEqual([3, 2, null, 0]);
  });

  test("a hidden series takes no height and no part in the total", () => {
    const columns = [
      [1, 1, 1, 1],
      [5, 5, 5, 5],
      [2, 2, 2, 2],
    ];
    const { drawn, totals, top } = model(columns, { stacked: true, hidden: new Set(["s1"]) });
    expect(drawn).toEqual([
      [1, 1, 1, 1],
      [null, null, null, null],
      [3, 3, 3, 3],
    ]);
    expect([totals?.[0], top]).toEqual([3, 3]);
  });
});

describe("buckets", () => {
  test("the one that holds an instant, its start within and its end without", () => {
    const m = model([[1, 2, 3, 4]]);
    expect([at(8), at(8, 59), at(9), at(10, 30), at(11, 59)].map((t) => bucketAt(m, t))).toEqual([0, 0, 1, 2, 3]);
  });

  test("none before the first, after the last, or without buckets; but the window's end is in the last", () => {
    const m = model([[1, 2, 3, 4]]);
    expect(bucketAt(m, at(7, 59))).toBeNull();
    expect(bucketAt(m, at(12))).toBeNull();
    expect(bucketAt({ ...m, to: at(12) }, at(12))).toBe(3);
    expect(bucketAt(model([[]], { bucketStarts: [] }), at(9))).toBeNull();
  });

  test("values are drawn in the middle of what the window shows of a bucket", () => {
    expect(model([[1, 2, 3, 4]]).xs).toEqual([at(8, 45), at(9, 30), at(10, 30), at(11, 15)]);
  });

  test("buckets of another window stay outside this one", () => {
    const m = model([[1, 2, 3, 4]], { window: { from: iso(at(14)), to: iso(at(16)) } });
    expect(Math.max(...m.xs)).toBeLessThan(at(14));
    expect(m.ends[3]).toBe(m.starts[3] === undefined ? 0 : m.starts[3] + hour);
  });

  test("without a cursor the last with a value is read out", () => {
    expect(model([[1, 2, null, null]]).idle).toBe(1);
    expect(model([[null, null, null, null]]).idle).toBe(3);
    expect(model([[]], { bucketStarts: [] }).idle).toBe(-1);
  });
});

test("values between gaps are lonely, and need a point", () => {
  expect(lonely([5, null, null, 0, 5], 4)).toEqual([0]);
  expect(lonely([null, 0, null], 2)).toEqual([1]);
  expect(lonely([1, 2, null, 3], 3)).toEqual([3]);
});

describe("ticks", () => {
  test.each([
    [100, false, [0, 100] as const, [0, 25, 50, 75, 100]],
    [14, true, undefined, [0, 5, 10, 15]],
    [3, true, undefined, [0, 1, 2, 3]],
    [1, true, undefined, [0, 1]],
    [0.42, false, undefined, [0, 0.2, 0.4, 0.6]],
    [0, false, undefined, [0, 0.25, 0.5, 0.75, 1]],
    [0, true, undefined, [0, 1]],
  ])("up to %d", (top, whole, range, ticks) => {
    expect(ticksOf(top, whole, range).ticks).toEqual(ticks);
  });

  test("leave room above the greatest value", () => {
    expect(ticksOf(100, false).max).toBeGreaterThan(100);
  });
});
