import { focusManager, QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { dueOnReturn, pollWait, whileMoving } from "./polling";
import { Problem } from "./problem";

type List = { moving: boolean };
const moving = (list: List) => list.moving && whileMoving;

/** watched runs a query as usePolling would; answers are given in their order, the last one for ever. */
function watched(answers: (List | Problem)[]) {
  const asked: number[] = [];
  const queries = new QueryClient();
  queries.mount();
  const observer = new QueryObserver<List>(queries, {
    queryKey: ["list"],
    queryFn: async () => {
      asked.push(Date.now());
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Problem) throw answer;
      return answer as List;
    },
    refetchInterval: (query) => pollWait(query, moving),
    refetchOnWindowFocus: (query) => (dueOnReturn(query, moving, Date.now()) ? "always" : false),
    retry: false,
  });
  const stop = observer.subscribe(() => {});
  return { asked, waits: () => asked.slice(1).map((at, n) => (at - (asked[n] ?? 0)) / 1_000), stop };
}

const building = { moving: true };
const ready = { moving: false };
const unavailable = (headers = new Headers()) => new Problem({}, 503, headers);

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  focusManager.setFocused(undefined);
  vi.useRealTimers();
});

describe("a list is polled", () => {
  test("every 5 s while a report is in progress", async () => {
    const list = watched([building]);
    await vi.advanceTimersByTimeAsync(15_500);
    expect(list.waits()).toEqual([5, 5, 5]);
    list.stop();
  });

  test("no longer when no report is in progress", async () => {
    const list = watched([building, ready]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(list.waits()).toEqual([5]);
    list.stop();
  });

  test("after 10, 20, 40 and at most 60 s when the server fails, and after 5 s when it is back", async () => {
    const list = watched([building, ...Array.from({ length: 5 }, () => unavailable()), building, building, ready]);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(list.waits()).toEqual([5, 10, 20, 40, 60, 60, 5, 5]);
    list.stop();
  });

  test("from 10 s again after each success", async () => {
    const list = watched([building, unavailable(), building, unavailable(), building, ready]);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(list.waits()).toEqual([5, 10, 5, 10, 5]);
    list.stop();
  });

  test("not before Retry-After, which may be longer than 60 s", async () => {
    const later = (seconds: string) => unavailable(new Headers({ "Retry-After": seconds }));
    const list = watched([building, later("30"), later("90"), later("1"), ready]);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(list.waits()).toEqual([5, 30, 90, 40]);
    list.stop();
  });

  test("with the waits of a failure when the very first answer is one", async () => {
    const list = watched([unavailable(), unavailable(), ready]);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(list.waits()).toEqual([10, 20]);
    list.stop();
  });

  test("never after a refusal", async () => {
    const list = watched([building, new Problem({}, 401)]);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(list.waits()).toEqual([5]);
    list.stop();
  });

  test("at once when the tab is shown again, if a report is in progress", async () => {
    const list = watched([building]);
    await vi.advanceTimersByTimeAsync(100);
    focusManager.setFocused(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(list.asked).toHaveLength(1);
    focusManager.setFocused(true);
    await vi.advanceTimersByTimeAsync(5_500);
    expect(list.waits()).toEqual([60.1, 5]);
    list.stop();
  });

  test("not when the tab is shown again, if no report is in progress or the server asked to wait", async () => {
    for (const answers of [[ready], [building, unavailable(new Headers({ "Retry-After": "120" }))]]) {
      const list = watched([...answers]);
      await vi.advanceTimersByTimeAsync(6_000);
      const before = list.asked.length;
      focusManager.setFocused(false);
      focusManager.setFocused(true);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(list.asked).toHaveLength(before);
      list.stop();
    }
  });
});
