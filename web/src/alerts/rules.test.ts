import { expect, test } from "vitest";
import { aboutSessions, meaningOf, measuredOf, watchRuleOf } from "./rules";

const instance = { id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01", name: "orders" };
const rule = (id: string, threshold: number | null, unit: string | null) => ({ id, name: id, threshold, unit });

test("a rule of the watch has a meaning and a next step, and another rule has its sender's text", () => {
  const own = { meaning: "A volume is nearly full." };
  expect(meaningOf({ description: "Free space." }, own)).toBe("A volume is nearly full.\n\nFree space.");
  expect(meaningOf({ description: null }, own)).toBe("A volume is nearly full.");
  expect(meaningOf({ description: "means\n\ndo" }, own)).toBe("means\n\ndo");
  expect(meaningOf({ description: "theirs" }, null)).toBe("theirs");
  expect(meaningOf({ description: null }, null)).toBeNull();
});

test("a rule belongs to the watch if it has a threshold or is about a server that is down", () => {
  const rules = [{ id: "volume" }, { id: "down" }] as Parameters<typeof watchRuleOf>[1];
  const of = (id: string, threshold: number | null) =>
    watchRuleOf({ rule: rule(id, threshold, null) }, rules)?.id ?? null;
  expect([of("volume", 90), of("down", null), of("volume", null), of("constructor", 1)]).toEqual([
    "volume",
    "down",
    null,
    null,
  ]);
  expect(watchRuleOf({ rule: null }, rules)).toBeNull();
  expect(watchRuleOf({ rule: rule("volume", 90, null) }, undefined)).toBeNull();
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
