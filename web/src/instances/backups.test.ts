import { describe, expect, test } from "vitest";
import { type BackupDay, keptDays, objective, verdict } from "./backups";

const day = (kept: boolean | null): BackupDay => ({
  day: "2026-11-20",
  greatestAgeSeconds: null,
  known: kept !== null,
  kept,
});

describe("backups", () => {
  test("an objective is written in the largest whole unit", () => {
    expect([15, 60, 90, 1440, 10080].map(objective)).toEqual(["15 min", "1 h", "90 min", "24 h", "7 d"]);
  });

  test("unknown days are neither kept nor missed", () => {
    expect(keptDays([day(true), day(false), day(true)])).toBe("Kept on 2 of 3 days");
    expect(keptDays([day(null), day(true)])).toBe("Kept on 1 of 1 day, 1 day not known");
    expect(keptDays([day(null)])).toBe("Backups of the last 30 days are not known.");
  });

  test("unknown is never good", () => {
    const counts = { none: 0, late: 0, unknown: 0, kept: 0 };
    expect(verdict({ counts: { ...counts, kept: 2 } }).tone).toBe("good");
    expect(verdict({ counts: { ...counts, kept: 2, unknown: 1 } })).toEqual({ tone: "quiet", words: "Not known" });
    expect(verdict({ counts: { ...counts, none: 1 } })).toEqual({ tone: "bad", words: "No backup" });
    expect(verdict({ counts: { ...counts, late: 1, kept: 9 } }).words).toBe(
      "1 of 10 databases older than the objective",
    );
  });
});
