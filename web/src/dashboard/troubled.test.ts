import { expect, test } from "vitest";
import type { Instance, Status } from "../instances/states";
import { type Shown, troubled as troubledOf } from "./troubled";

const now = Date.parse("2026-11-26T18:24:20Z");
const server = (name: string, status: Status, minutes: number | null = 10, more: Partial<Instance> = {}) =>
  ({
    id: name,
    name,
    status,
    createdAt: "2026-01-01T00:00:00Z",
    statusSince: minutes === null ? null : new Date(now - minutes * 60_000).toISOString(),
    statusReason: null,
    ...more,
  }) as Instance;
const troubled = (all: Instance[], at: number) =>
  troubledOf(all, all.filter((i) => i.status !== "inactive").length, at);
const names = (all: Shown[]) => all.map((i) => i.name).join(" ");

test("nothing is shown if every server is up or switched off", () => {
  const said = troubled([server("a", "up"), server("b", "inactive")], now);
  expect(said).toEqual({ together: [], named: [], others: [] });
});

test("servers that are down come first, the newest before the others, then silent and unknown ones", () => {
  const up = ["e", "f", "g", "h"].map((name) => server(name, "up"));
  const said = troubled(
    [server("a", "unknown", null), server("b", "silent"), server("c", "down", 60), server("d", "down", 2), ...up],
    now,
  );
  expect(names(said.named)).toBe("d c b a");
  expect(said.others).toEqual([]);
});

test("of more than four the worst four are shown, and the others are counted", () => {
  const up = Array.from({ length: 9 }, (_, n) => server(`up${n}`, "up"));
  const down = Array.from({ length: 6 }, (_, n) => server(`down${n}`, "down", n));
  const said = troubled([...up, server("quiet", "silent"), ...down], now);
  expect(names(said.named)).toBe("down0 down1 down2 down3");
  expect(said.others).toEqual([
    ["down", 2],
    ["silent", 1],
  ]);
});

test("one row stands for all servers if more than half of five or more are down", () => {
  const down = Array.from({ length: 3 }, (_, n) => server(`down${n}`, "down", n));
  const said = troubled([...down, server("quiet", "silent"), server("up", "up")], now);
  expect(said.together).toHaveLength(3);
  expect(names(said.named)).toBe("quiet");
  expect(troubled([...down, server("up", "up")], now).together).toEqual([]);
});

test("a new server is not in trouble because it has not reported yet", () => {
  const never = { statusReason: { code: "never_heard", sentence: "", seen: "", said: null } };
  const created = (seconds: number) => ({ ...never, createdAt: new Date(now - seconds * 1_000).toISOString() });
  expect(
    names(
      troubled([server("new", "unknown", null, created(20)), server("old", "unknown", null, created(200))], now).named,
    ),
  ).toBe("old");
});
