import { expect, test } from "vitest";
import { fieldTime, tomorrowMorning, untilOf } from "./muteFor";

const now = new Date("2026-11-20T11:37:42.500Z");

test("a mute ends after its length, at its time, or not at all", () => {
  expect(untilOf("good", "", now)).toBeUndefined();
  expect(untilOf("4h", "", now)).toBe("2026-11-20T15:37:42.500Z");
  expect(untilOf("7d", "", now)).toBe("2026-11-27T11:37:42.500Z");
  const later = new Date(now.getTime() + 90 * 60_000);
  expect(untilOf("time", fieldTime(later), now)).toBe("2026-11-20T13:07:00.000Z");
});

test("a time that has come, is no time, or lies more than 366 days ahead is refused", () => {
  expect(untilOf("time", "", now)).toBeNull();
  expect(untilOf("time", fieldTime(now), now)).toBeNull();
  expect(untilOf("time", fieldTime(new Date(now.getTime() + 367 * 86_400_000)), now)).toBeNull();
});

test("the field begins at eight in the morning of the next day, local time", () => {
  expect(tomorrowMorning(now)).toMatch(/T08:00$/);
  expect(Date.parse(tomorrowMorning(now))).toBeGreaterThan(now.getTime());
});
