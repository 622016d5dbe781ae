import { expect, test } from "vitest";
import { dropped, hasGone, type MeasuringAgent, tookOver, uncounted, waiting } from "./agentSays";

const agent: MeasuringAgent = {
  name: "beside",
  version: "1.2",
  host: "db01",
  seenAt: "2026-11-20T11:55:00Z",
  bufferedBytes: 0,
  maxBytes: 1024,
  oldestBufferedAt: null,
  facts: 0,
  refused: 0,
  dropped: {},
  takeover: null,
  loops: [],
};

test("a takeover names the new sender, and whether statements are lost", () => {
  const takeover = {
    by: "second",
    at: "2026-11-20T12:05:00Z",
    from: "2026-11-20T12:00:03Z",
    to: "2026-11-20T12:01:03Z",
  };
  expect(tookOver(takeover)).toBe("second took the statements over from another agent");
  expect(tookOver({ ...takeover, by: null })).toMatch(/^Another agent/);
  expect(uncounted(takeover)).toBe(true);
  expect(uncounted({ ...takeover, to: "2026-11-20T12:00:03.4Z" })).toBe(false);
  expect(uncounted({ ...takeover, to: null })).toBe(true);
});

test("an agent that has not reported for five minutes is gone", () => {
  expect(hasGone(agent, new Date("2026-11-20T12:00:00Z"))).toBe(false);
  expect(hasGone(agent, new Date("2026-11-20T12:00:01Z"))).toBe(true);
});

test("waiting and dropped records are counted in words", () => {
  expect(waiting(agent)).toBe("nothing");
  expect(waiting({ ...agent, bufferedBytes: 5000 })).toBe("4.9 KB of measurements");
  expect(waiting({ ...agent, bufferedBytes: 5000, facts: 1 })).toBe("4.9 KB of measurements and 1 fact");
  expect(dropped(agent)).toEqual([]);
  expect(dropped({ ...agent, dropped: { damaged: 0, buffer_full: 3, later: 12_000 } }).map((d) => d.text)).toEqual([
    "12,000: later",
    "3: its buffer or its disk was full, and the oldest went",
  ]);
});
