import { beforeEach, describe, expect, test } from "vitest";
import type { Report } from "./status";
import { unseenOf } from "./tray";
import { newsOf, noteTray, watch, watching } from "./trayNews";

/** report is a report n minutes old in a state. */
const report = (id: string, status: string, minute = 0, finished: string | null = null) =>
  ({ id, status, createdAt: new Date(minute * 60_000).toISOString(), finishedAt: finished }) as Report;

const ids = (reports: Report[]) => reports.map((r) => r.id);

describe("news of the tray", () => {
  test("the first load has no news, whatever is Ready", () => {
    expect(newsOf(null, [report("a", "Ready"), report("b", "Building")])).toMatchObject({ done: [], missing: [] });
  });

  test("a report in progress that becomes Ready is announced once", () => {
    const first = newsOf(null, [report("a", "Building")]);
    const second = newsOf(first.memory, [report("a", "Ready")]);
    expect(ids(second.done)).toEqual(["a"]);
    expect(newsOf(second.memory, [report("a", "Ready")]).done).toEqual([]);
  });

  test("a report in progress that disappears is missing, once", () => {
    const first = newsOf(null, [report("a", "Queued")]);
    const second = newsOf(first.memory, []);
    expect(second.missing).toEqual(["a"]);
    expect(newsOf(second.memory, []).missing).toEqual([]);
  });

  test("a report requested and Ready between two loads is announced", () => {
    const first = newsOf(null, [report("a", "Ready", 1)]);
    expect(ids(newsOf(first.memory, [report("b", "Ready", 2), report("a", "Ready", 1)]).done)).toEqual(["b"]);
  });

  test("older reports on another page are not announced", () => {
    const first = newsOf(null, [report("b", "Ready", 2)]);
    expect(newsOf(first.memory, [report("b", "Ready", 2), report("a", "Ready", 1)]).done).toEqual([]);
  });
});

describe("the tab's memory", () => {
  beforeEach(() => sessionStorage.clear());

  test("is each member's own and outlives a reload", () => {
    noteTray("ana", [report("a", "Building")]);
    expect(noteTray("ben", [report("a", "Ready")]).done).toEqual([]);
    expect(ids(noteTray("ana", [report("a", "Ready")]).done)).toEqual(["a"]);
    expect(noteTray("ana", [report("a", "Ready")]).done).toEqual([]);
  });

  test("waits for a request that the tray does not show yet", () => {
    noteTray("ana", []);
    watch("ana", "a");
    expect(watching("ana")).toBe(true);
    expect(noteTray("ana", []).missing).toEqual(["a"]);
    expect(watching("ana")).toBe(false);
  });
});

test("the unseen reports are those that became Ready last, not those requested last", () => {
  const early = report("early", "Ready", 1, "2026-11-20T11:38:20.5Z");
  const late = report("late", "Ready", 2, "2026-11-20T11:38:20.45Z");
  expect([...unseenOf([report("x", "Building", 3), late, early], 1)]).toEqual(["early"]);
});
