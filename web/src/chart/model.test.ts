import { describe, expect, test } from "vitest";
import { pickByKey } from "./keys";
import { bucketAt, bucketSpan, lonely, type Model, modelOf, placeOf, seriesAt, spanOf, stack } from "./model";
import type { Picked } from "./types";

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

  test("a total is over series with data, and null without any", () => {
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
    const { drawn, totals, ticks } = model(columns, { stacked: true, hidden: new Set(["s1"]) });
    const heightOf = (value: number) => ticks.find((tick) => tick.value === value)?.height;
    expect(ticks.map((tick) => tick.value)).toEqual([0, 1, 2, 3]);
    expect(drawn.map((column) => column[0])).toEqual([heightOf(1), null, heightOf(3)]);
    expect(totals?.[0]).toBe(3);
    expect(model(columns, { stacked: true, hidden: new Set(["s0", "s1", "s2"]) }).totals).toBeNull();
  });
});

describe("buckets", () => {
  test("the bucket of an instant includes its start and excludes its end", () => {
    const m = model([[1, 2, 3, 4]]);
    expect([at(8), at(8, 59), at(9), at(10, 30), at(11, 59)].map((t) => bucketAt(m, t))).toEqual([0, 0, 1, 2, 3]);
  });

  test("there is no bucket before the first or after the last, but the window's end is in the last", () => {
    const m = model([[1, 2, 3, 4]]);
    expect(bucketAt(m, at(7, 59))).toBeNull();
    expect(bucketAt(m, at(12))).toBeNull();
    expect(bucketAt({ ...m, to: at(12) }, at(12))).toBe(3);
    expect(bucketAt(model([[]], { bucketStarts: [] }), at(9))).toBeNull();
  });

  test("values are drawn in the middle of the visible part of a bucket", () => {
    expect(model([[1, 2, 3, 4]]).xs).toEqual([at(8, 45), at(9, 30), at(10, 30), at(11, 15)]);
  });

  test("buckets of another window stay outside this one", () => {
    const m = model([[1, 2, 3, 4]], { window: { from: iso(at(14)), to: iso(at(16)) } });
    expect(Math.max(...m.xs)).toBeLessThan(at(14));
    expect(m.ends[3]).toBe(m.starts[3] === undefined ? 0 : m.starts[3] + hour);
  });

  test("without a cursor the last bucket with a value is read out", () => {
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

describe("bands", () => {
  const bands = [
    { label: "Few", scale: "linear", series: ["s0"] },
    { label: "Many", scale: "log", series: ["s1"] },
  ] as const;
  const columns = [
    [1, 2, 3, 4],
    [10, 1_000, null, 10_000],
  ];
  const within = (values: readonly (number | null)[] | undefined, low: number, high: number) =>
    values?.every((v) => v === null || (v >= low && v < high));

  test("lie upon each other, each with its own axis", () => {
    const { drawn, ticks, bands: names } = model(columns, { bands });
    expect(within(drawn[0], 0.5, 1)).toBe(true);
    expect(within(drawn[1], 0, 0.5)).toBe(true);
    expect(ticks.map((t) => t.value)).toEqual([1, 100, 10_000, 0, 1, 2, 3, 4]);
    expect(names).toEqual([
      { label: "Few", top: 1 },
      { label: "Many", top: 0.5 },
    ]);
  });

  test("a band with only hidden series leaves its room to the other", () => {
    const { drawn, ticks, bands: names } = model(columns, { bands, hidden: new Set(["s1"]) });
    expect(ticks[0]).toEqual({ height: 0, value: 0 });
    expect(drawn[0]?.[3]).toBeGreaterThan(0.8);
    expect(drawn[1]).toEqual([null, null, null, null]);
    expect(names).toEqual([{ label: "Few", top: 1 }]);
  });

  test("no band and no label is left if every series is hidden", () => {
    const { ticks, bands: names } = model(columns, { bands, hidden: new Set(["s0", "s1"]) });
    expect([ticks, names]).toEqual([[], []]);
  });
});

describe("the window before", () => {
  const compared = (column: (number | null)[], former: (number | null)[], key = "s0") => ({
    key,
    label: key,
    color: "blue",
    values: column,
    before: former,
  });
  const both = [compared([1, 1, 1, 1], [2, null, 2, 8]), compared([3, 3, 3, 3], [1, 1, 1, 1], "s1")];

  test("is within the range of the axis", () => {
    const { before: lines, ticks, drawn } = model([], { series: both });
    expect(ticks.map((tick) => tick.value)).toEqual([0, 2, 4, 6, 8]);
    expect(lines.map(({ column }) => column)).toEqual([0, 1]);
    expect(lines[0]?.line.map((height) => height !== null && height / (drawn[0]?.[0] ?? 1))).toEqual([
      2,
      false,
      2,
      expect.closeTo(8),
    ]);
  });

  test("of a hidden series is hidden, and takes no room", () => {
    const { before: lines, ticks } = model([], { series: both, hidden: new Set(["s0"]) });
    expect(lines.map(({ column }) => column)).toEqual([1]);
    expect(ticks[ticks.length - 1]?.value).toBe(3);
  });

  test("of a stack is the total of its visible series", () => {
    const { before: lines } = model([], { series: both, stacked: true });
    expect(lines.map(({ column, values }) => [column, values])).toEqual([[null, [3, 1, 3, 9]]]);
    const { before: rest } = model([], { series: both, stacked: true, hidden: new Set(["s1"]) });
    expect(rest[0]?.values).toEqual([2, null, 2, 8]);
    expect(model([], { series: both, stacked: true, hidden: new Set(["s0", "s1"]) }).before).toEqual([]);
  });
});

describe("a click", () => {
  const columns = [
    [10, 10, null, 10],
    [20, 30, null, 30],
  ];

  test("picks the nearest visible line", () => {
    const lines = model(columns, { upTo: 100 });
    expect(seriesAt(lines, 0, 0.16)).toBe("s1");
    expect(seriesAt(lines, 0, 0.02)).toBe("s0");
    expect(seriesAt(lines, 0, 1)).toBe("s1");
    expect(seriesAt(lines, 2, 0.5), "a gap").toBeNull();
    expect(seriesAt(model(columns, { upTo: 100, hidden: new Set(["s1"]) }), 0, 1)).toBe("s0");
  });

  test("picks the area under it, and none above all areas", () => {
    const areas = model(columns, { stacked: true, upTo: 100 });
    expect(seriesAt(areas, 1, 0.05)).toBe("s0");
    expect(seriesAt(areas, 1, 0.2)).toBe("s1");
    expect(seriesAt(areas, 1, 0.9)).toBeNull();
  });

  // F17: up to the window's end, the steps to the bucket before would be as short as that.
  test("a bucket is picked whole, also one that is not over, and marked where it is drawn", () => {
    const open = model(columns, { lastBucketPartial: true });
    expect(bucketSpan(open, 3)).toEqual([iso(at(11)), iso(at(12))]);
    expect(bucketSpan(open, 1)).toEqual([iso(at(9)), iso(at(10))]);
    const picked: Picked[] = [];
    pickByKey(new KeyboardEvent("keydown", { key: "Enter" }) as never, open, "alone", (of) => picked.push(of));
    expect(picked).toEqual([{ from: iso(at(11)), to: iso(at(12)), series: null }]);
    expect(placeOf(open, at(11, 40)), "in the last bucket, behind the window").toBe(at(11, 30));
    expect(placeOf(open, at(8, 10)), "in the first, before the window").toBe(at(8, 30));
    expect(placeOf(open, at(9, 30))).toBe(at(9, 30));
    expect(placeOf(open, at(12, 1))).toBeNull();
  });

  test("of a zoom covers whole buckets, a partial one up to the window's end", () => {
    expect(spanOf(model(columns), [1, 1])).toEqual([iso(at(9)), iso(at(10))]);
    expect(spanOf(model(columns, { lastBucketPartial: true }), [3, 3])).toEqual([iso(at(11)), iso(at(11, 30))]);
  });
});

describe("a level", () => {
  const columns = [[1, 2, null, 3]];

  test("stands at its value, and the axis reaches it", () => {
    const { level, ticks } = model(columns, { level: 8 });
    expect(level).toBeCloseTo(ticks.find(({ value }) => value === 8)?.height ?? Number.NaN);
    expect(ticks.at(-1)?.value).toBeGreaterThanOrEqual(8);
    expect(model(columns, { level: 2 }).ticks.at(-1)?.value, "below the figures it moves nothing").toBe(3);
  });

  test("is drawn only with figures, and on demand", () => {
    expect(model(columns).level).toBeNull();
    expect(model([[null, null, null, null]], { level: 8 }).level).toBeNull();
  });
});
