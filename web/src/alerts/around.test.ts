import { expect, test } from "vitest";
import { aroundOf } from "./around";

const now = new Date("2026-11-20T12:00:00Z");
const instance = { id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01", name: "orders" };
const alert = (firstTriggeredAt: string, resolvedAt: string | null) => ({
  firstTriggeredAt,
  lastTriggeredAt: firstTriggeredAt,
  resolvedAt,
  instance,
});
const window = (first: string, resolved: string | null) => {
  const { from, to } = aroundOf(alert(first, resolved), now);
  return `${from.slice(5, 16)} ${to.slice(5, 16)}`;
};

test("the window begins an hour before the alert and ends an hour after it, at most now", () => {
  expect(window("2026-11-19T08:00:00Z", "2026-11-19T09:30:00Z")).toBe("11-19T07:00 11-19T10:30");
  expect(window("2026-11-20T11:30:00Z", null)).toBe("11-20T10:30 11-20T12:00");
  expect(window("2026-11-20T11:00:00Z", "2026-11-20T11:30:00Z")).toBe("11-20T10:00 11-20T12:00");
});

test("the window of an alert longer than a day is its first day, in minutes", () => {
  expect(window("2026-11-10T08:00:00Z", null)).toBe("11-10T07:00 11-11T07:00");
});

test("the window is narrowed to the alert's server, if it has one", () => {
  expect(aroundOf(alert("2026-11-20T11:00:00Z", null), now).instanceId).toEqual([instance.id]);
  expect(aroundOf({ ...alert("2026-11-20T11:00:00Z", null), instance: null }, now)).not.toHaveProperty("instanceId");
});

test("a clock that is behind leaves a window all the same", () => {
  const { from, to } = aroundOf(alert("2026-11-20T14:00:00Z", null), now);
  expect(from < to).toBe(true);
});
