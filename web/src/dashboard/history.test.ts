import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { sinceMonitored, startMarker } from "./history";

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

test("the start is marked where the window holds it", () => {
  expect(startMarker(history("2026-11-19T06:12:00Z"))).toEqual([
    { at: "2026-11-19T06:12:00Z", label: expect.stringContaining("monitoring started") },
  ]);
  expect(startMarker(history("2026-11-18T06:12:00Z"))).toEqual([]);
  expect(startMarker(history(null))).toEqual([]);
});
