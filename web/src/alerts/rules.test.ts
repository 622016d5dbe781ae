import { expect, test } from "vitest";
import { aboutSessions, meaningOf, measuredOf } from "./rules";

const instance = { id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01", name: "orders" };
const rule = (id: string, threshold: number | null, unit: string | null) => ({ id, name: id, threshold, unit });

test("each rule of the watch has a meaning before what to do, and others say what their sender does", () => {
  for (const id of ["silent", "volume", "lock_wait", "wraparound"]) {
    const said = meaningOf({ rule: rule(id, 5, "minutes"), description: "Free space.", instance });
    expect(said).toMatch(/^.{20,}\n\nFree space\.$/);
  }
  expect(meaningOf({ rule: rule("volume", null, null), description: "theirs", instance })).toBe("theirs");
  expect(meaningOf({ rule: rule("volume", 90, "percent"), description: "means\n\ndo", instance })).toBe("means\n\ndo");
  expect(meaningOf({ rule: null, description: null, instance })).toBeNull();
  expect(meaningOf({ rule: rule("constructor", 1, "x"), description: null, instance })).toBeNull();
});

test("the value is one of the dashboard's figures, with a threshold of the same unit alone", () => {
  const of = (id: string, threshold: number | null, unit: string | null) =>
    measuredOf({ rule: rule(id, threshold, unit), description: null, instance });
  expect(of("volume", 90, "percent")).toEqual({ figure: "disk", threshold: 90 });
  expect(of("lock_wait", 5, "minutes")).toEqual({ figure: "locks", threshold: null });
  expect(of("wraparound", 80, "percent")).toBeNull();
  expect(measuredOf({ rule: rule("volume", 90, "percent"), description: null, instance: null })).toBeNull();
  expect(measuredOf({ rule: null, description: null, instance })).toBeNull();
});

test("an alert about locks or connections of a server leads to its sessions", () => {
  const of = (id: string) => aboutSessions({ rule: rule(id, null, null), instance });
  expect(["lock_wait", "blocking", "connections", "failover-connections", "volume", "listener"].map(of)).toEqual([
    ...["locks", "locks", "connections", "connections"],
    ...[null, null],
  ]);
  expect(aboutSessions({ rule: rule("lock_wait", 5, "minutes"), instance: null })).toBeNull();
  expect(aboutSessions({ rule: null, instance })).toBeNull();
});
