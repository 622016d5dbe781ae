import { expect, test } from "vitest";
import { dayOfMonthName, inZone, lacking, timeZones, untold, wallTime, whenText } from "./words";

test("the recurrence, in words", () => {
  const at = "08:00";
  expect(whenText({ every: "day", weekday: null, dayOfMonth: null, at })).toBe("Every day at 08:00");
  expect(whenText({ every: "week", weekday: "monday", dayOfMonth: null, at })).toBe("Every Monday at 08:00");
  expect(whenText({ every: "month", weekday: null, dayOfMonth: 31, at })).toBe("On the 31st of every month at 08:00");
  expect(whenText({ every: "month", weekday: null, dayOfMonth: -1, at })).toBe(
    "On the last day of every month at 08:00",
  );
});

test("the days of a month", () => {
  expect([1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30].map(dayOfMonthName)).toEqual(
    ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "23rd", "30th"].map((d) => `the ${d}`),
  );
  expect(lacking(28)).toBeNull();
  expect(lacking(-1)).toBeNull();
  expect(lacking(29)).toContain("last day");
});

test("an instant by the clocks of another place", () => {
  expect(inZone("2026-11-30T07:00:00Z", "Europe/Amsterdam")).toMatch(/08:00/);
  expect(inZone("2026-11-30T23:30:00Z", "Europe/Amsterdam")).toMatch(/00:30/);
  expect(inZone("2026-07-01T06:00:00Z", "Europe/Amsterdam")).toMatch(/08:00/);
  expect(inZone("2026-11-30T07:00:00Z", "Atlantis/Capital")).toMatch(/07:00/);
});

// C4.
test("a due time is shown by the server's clocks, whatever the browser's rules", () => {
  expect(wallTime("2026-11-27T08:00:00-07:00")).toMatch(/27.*08:00/);
  expect(wallTime("2026-11-27T08:00:00-09:30")).toMatch(/27.*08:00/);
  expect(wallTime("2026-11-27T00:15:00+13:45")).toMatch(/27.*00:15/);
  expect(wallTime("2026-11-27T08:00:00Z")).toMatch(/27.*08:00/);
});

test("a zone that the browser does not list can be kept", () => {
  expect(timeZones("Atlantis/Capital")).toContain("Atlantis/Capital");
  expect(timeZones()).toContain("UTC");
});

test("events without a notification", () => {
  const channels = [
    { id: "mail", kind: "email" as const },
    { id: "am", kind: "alertmanager" as const },
  ];
  const rule = (match: object, channelIds = ["am", "mail"], enabled = true) => ({ match, channelIds, enabled });
  const failed = rule({ event: ["alert.raised", "report.failed"] });
  const missed = rule({ event: ["schedule.missed"], instanceIds: ["a"] });
  expect(untold([], channels)).toBe("fail or be missed");
  expect(untold([failed], channels)).toBe("be missed");
  expect(untold([missed], channels)).toBe("fail");
  expect(untold([failed, missed], channels)).toBeNull();
  expect(untold([rule({})], channels)).toBeNull();
  expect(untold([rule({ event: [], instanceIds: ["a"] })], channels)).toBe("fail");
  expect(untold([rule({}, ["am"])], channels)).toBe("fail or be missed");
  expect(untold([rule({}, ["mail"], false)], channels)).toBe("fail or be missed");
});
