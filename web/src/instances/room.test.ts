import { describe, expect, it } from "vitest";
import { between, called, fullIn, grows, level, type Size, urgent, worst } from "./room";

const size = (change: Partial<Size>): Size => ({
  kind: "volume",
  name: "/data",
  host: "db01",
  measuredAt: "2026-11-27T12:00:00Z",
  usedBytes: 710e9,
  limitBytes: 1000e9,
  usedPercent: 71,
  perDayBytes: 72e9,
  perDayPercent: 7.2,
  daysUntilFull: 3.6,
  soonestDays: 3.1,
  latestDays: 4.2,
  reason: null,
  pastDays: 30,
  history: [],
  ...change,
});
const friday = new Date("2026-11-27T12:00:00Z");

describe("room", () => {
  it("says when a volume is full, and with which confidence", () => {
    expect(fullIn(size({}), friday)).toBe("full in 4 days, Tue, Dec 1");
    expect(between(size({}), 0.9)).toBe("90 % confidence: in 3 to 5 days");
    expect(fullIn(size({ daysUntilFull: 0, usedPercent: 100 }), friday)).toBe("full");
    expect(urgent(size({}))).toBe(true);
  });
  it("says why there is no date", () => {
    const none = size({
      daysUntilFull: null,
      soonestDays: null,
      latestDays: null,
      reason: "sawTooth",
      perDayBytes: null,
      perDayPercent: null,
    });
    expect(fullIn(none, friday)).toBe("rises and falls: no date can be given");
    expect(between(none, 0.9)).toBeNull();
    expect(grows(none)).toBe("–");
    expect(urgent(none)).toBe(false);
  });
  it("shows a sender's figures: bytes, or a percentage only", () => {
    expect(level(size({}))).toBe("71 % of 931 GB");
    expect(level(size({ usedBytes: null, limitBytes: null }))).toBe("71 %");
    expect(level(size({ limitBytes: null, usedPercent: null }))).toBe("661 GB");
    expect(grows(size({ perDayBytes: null, perDayPercent: -0.5 }))).toBe("−0.50 points a day");
  });
  it("lists all volumes, and the greatest databases", () => {
    const databases = Array.from({ length: 9 }, (_, n) => size({ kind: "database", name: `d${n}` }));
    expect(worst([size({}), ...databases])).toHaveLength(6);
  });
});

it("shows a self-explanatory name alone", () => {
  expect(called({ kind: "tablespace", name: "ERP.USERS" })).toBe("Tablespace ERP.USERS");
  expect(called({ kind: "tablespace", name: "log of shop" })).toBe("Log of shop");
  expect(called({ kind: "volume", name: "disk group DATA" })).toBe("Disk group DATA");
  expect(called({ kind: "volume", name: "D:\\" })).toBe("Volume D:\\");
});
