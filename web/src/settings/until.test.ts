import { expect, test } from "vitest";
import { defaultUntil, endOf, lastUntil } from "./until";

const now = Date.parse("2026-11-20T23:59:00Z");

test("an exception lasts until the end of the chosen day", () => {
  expect(endOf("2027-03-31")).toBe("2027-04-01T00:00:00.000Z");
  expect(endOf("2026-12-31")).toBe("2027-01-01T00:00:00.000Z");
  expect(endOf("")).toBeNull();
});

test("the last day that can be chosen ends within the 366 days of the API", () => {
  const end = endOf(lastUntil(now)) ?? "";
  expect((Date.parse(end) - now) / 86_400_000).toBeLessThanOrEqual(366);
  expect(defaultUntil(now)).toBe("2027-02-18");
});
