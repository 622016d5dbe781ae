import { expect, test } from "vitest";
import { assessedSince } from "./assessed";

test("a later assessment, however many digits its second has", () => {
  expect(assessedSince("2026-11-24T20:00:01.5Z", "2026-11-24T20:00:01Z")).toBe(true);
  expect(assessedSince("2026-11-24T20:00:01Z", "2026-11-24T20:00:01.5Z")).toBe(false);
  expect(assessedSince("2026-11-24T20:00:01Z", "2026-11-24T20:00:01Z")).toBe(false);
  expect(assessedSince("2026-11-24T20:00:01Z", null)).toBe(true);
  expect(assessedSince(null, null)).toBe(false);
});
