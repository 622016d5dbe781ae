import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { countedOf, sinceMonitored, startMarker } from "./history";

const history = (monitoringStartedAt: string | null): Schemas["AlertHistory"] => ({
  from: "2026-11-19T04:00:00Z",
  to: "2026-11-19T08:00:00Z",
  bucketSize: "1h",
  bucketStarts: ["04", "05", "06", "07"].map((h) => `2026-11-19T${h}:00:00Z`),
  lastBucketPartial: false,
  generatedAt: "2026-11-19T08:00:00Z",
  monitoringStartedAt,
  series: { active: [0, 0, 2, 0], resolved: [0, 0, 0, 1] },
});

test.each([
  ["2026-11-19T06:12:00Z", [null, null, 2, 0]],
  ["2026-11-19T06:00:00Z", [null, null, 2, 0]],
  ["2026-11-18T00:00:00Z", [0, 0, 2, 0]],
  [null, [null, null, null, null]],
])("monitored since %s", (start, active) => {
  expect(sinceMonitored(history(start)).active).toEqual(active);
});

test("the start is marked if the window holds it", () => {
  expect(startMarker(history("2026-11-19T06:12:00Z"))).toEqual([
    { at: "2026-11-19T06:12:00Z", label: expect.stringContaining("monitoring started") },
  ]);
  expect(startMarker(history("2026-11-18T06:12:00Z"))).toEqual([]);
  expect(startMarker(history(null))).toEqual([]);
});

// F17: with an hour's bucket, the breakdown of the first one was of alerts from before the window, too.
test("only the part of a bucket inside the window is requested", () => {
  const window = { from: "2026-11-26T17:40:20.000Z", to: "2026-11-26T18:54:20.000Z" };
  const hour = (h: number) => ({ from: `2026-11-26T${h}:00:00.000Z`, to: `2026-11-26T${h + 1}:00:00.000Z` });
  expect(countedOf(hour(17), window)).toEqual({ ...hour(17), from: window.from });
  expect(countedOf(hour(18), window)).toEqual({ ...hour(18), to: window.to });
  const within = { from: "2026-11-26T17:54:00.000Z", to: "2026-11-26T17:55:00.000Z" };
  expect(countedOf(within, window)).toEqual(within);
});
