import { afterEach, expect, test, vi } from "vitest";
import { ask, take } from "./asked";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const answering = () => vi.stubGlobal("fetch", async () => new Response("{}"));
const address = `${location.origin}/api/v1/metrics/utilization?from=2026-01-01T00%3A00%3A00Z&instanceId=a&instanceId=b`;
const askIt = () => ask("/api/v1/metrics/utilization", { from: "2026-01-01T00:00:00Z", instanceId: ["a", "b"] });

test("an early answer is given once, to the first request for the same address", async () => {
  answering();
  const answer = askIt();
  expect(take(`${address}&instanceId=c`)).toBeUndefined();
  expect(take(address)?.answer).toBe(answer);
  expect(take(address)).toBeUndefined();
});

test("an answer older than 30 s is not given", () => {
  answering();
  vi.useFakeTimers();
  askIt();
  vi.advanceTimersByTime(30_000);
  expect(take(address)).toBeUndefined();
});
