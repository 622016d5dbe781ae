import { expect, test } from "vitest";
import { about, aims, available, bodyOf, lineOf, long, monthName, months, summary } from "./words";

const objective = {
  selector: { tags: { env: ["prod"] }, instanceIds: [] },
  availabilityPercent: 99.9,
  latencyMs: null,
  window: "month",
};

test("a range has both ends only if they differ", () => {
  const a = { objectivePercent: 99.9, verdict: "kept", budgetSeconds: 1, usedSeconds: 0 };
  expect(available({ ...a, lowPercent: 99.88, highPercent: 99.97 })).toBe("99.88 – 99.97 %");
  expect(available({ ...a, lowPercent: 100, highPercent: 100 })).toBe("100 %");
  expect(available({ ...a, lowPercent: null, highPercent: null })).toBe("–");
});

test("a form returns its objectives unchanged", () => {
  expect(bodyOf([lineOf(objective, "a")])).toEqual({ items: [objective] });
});

test("objectives in words", () => {
  expect(aims({ ...objective, latencyMs: 20 })).toBe("available 99.9 %, mean latency up to 20 ms");
  const all = { ...objective, selector: {} };
  expect(about(all, true)).toBe("All servers");
  expect(about(all, false)).toBe("All other servers");
  expect(long(0)).toBe("0 s");
});

test("months go back over the turn of a year", () => {
  expect(months(new Date("2026-01-31T23:00:00Z"), 3)).toEqual(["2026-01", "2025-12", "2025-11"]);
  expect(monthName("2026-11")).toBe("November 2026");
});

test("a month is summarized in self-contained sentences", () => {
  const none = { kept: 0, missed: 0, cannotBeTold: 0, without: 0 };
  expect(summary({ kept: 3, missed: 1, cannotBeTold: 2, without: 1 })).toBe(
    "1 server missed the objective. 3 servers kept it. 2 servers may have kept or missed it: too much time is unknown. 1 server has no objective.",
  );
  expect(summary({ ...none, kept: 2 })).toBe("2 servers kept the objective.");
  expect(summary({ ...none, cannotBeTold: 1, without: 4 })).toBe(
    "1 server may have kept or missed the objective: too much time is unknown. 4 servers have no objective.",
  );
});
