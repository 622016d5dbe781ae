import { expect, test } from "vitest";
import { endOf } from "./assessed";

const looked = (lastAssessedAt: string | null, lastErrorAt: string | null = null) => ({ lastAssessedAt, lastErrorAt });

test("a later assessment is found, however many digits its second has", () => {
  expect(endOf(looked("2026-11-24T20:00:01.5Z"), looked("2026-11-24T20:00:01Z"))).toBe("assessed");
  expect(endOf(looked("2026-11-24T20:00:01Z"), looked("2026-11-24T20:00:01.5Z"))).toBe(null);
  expect(endOf(looked("2026-11-24T20:00:01Z"), looked("2026-11-24T20:00:01Z"))).toBe(null);
  expect(endOf(looked("2026-11-24T20:00:01Z"), looked(null))).toBe("assessed");
  expect(endOf(looked(null), looked(null))).toBe(null);
});

test("a failed assessment is distinguished from an earlier failure", () => {
  const before = "2026-11-24T20:00:00Z";
  expect(endOf(looked(before, "2026-11-24T20:00:05Z"), looked(before))).toBe("failed");
  expect(endOf(looked(before, "2026-11-24T20:00:05Z"), looked(before, "2026-11-24T20:00:04Z"))).toBe("failed");
  expect(endOf(looked(before, "2026-11-24T20:00:05Z"), looked(before, "2026-11-24T20:00:05Z"))).toBe(null);
  expect(endOf(looked("2026-11-24T20:00:06Z"), looked(before, "2026-11-24T20:00:05Z"))).toBe("assessed");
});
