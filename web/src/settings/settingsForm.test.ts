import { expect, test } from "vitest";
import { changesBetween, outOfBounds, rebased, type SettingsForm, written } from "./settingsForm";

const before: SettingsForm = {
  name: "Example",
  reportRetentionDays: 30,
  inputsRetentionDays: 400,
  paperSize: "A4",
  statementTexts: "off",
  sessionDetail: "on",
  exceptionApproval: "any",
  catalog: "all",
  protectedTags: "env, team",
  dueCritical: 7,
  dueHigh: 30,
  dueMedium: 90,
  dueLow: 180,
  silentMinutes: 5,
  volumePercent: 90,
  lockWaitMinutes: 5,
  advisoryLocks: "on",
  wraparoundPercent: 80,
};

test("a change sends only different values", () => {
  expect(changesBetween(before, { ...before })).toBeNull();
  expect(changesBetween(before, { ...before, reportRetentionDays: "90", volumePercent: 85 })).toEqual({
    reportRetentionDays: 90,
    watch: { volumePercent: 85 },
  });
  expect(changesBetween(before, { ...before, name: " Example " })).toBeNull();
  expect(changesBetween(before, { ...before, advisoryLocks: "off" })).toEqual({ watch: { advisoryLocks: "off" } });
  expect(changesBetween(before, { ...before, statementTexts: "normalized" })).toEqual({ statementTexts: "normalized" });
  expect(changesBetween(before, { ...before, exceptionApproval: "another" })).toEqual({ exceptionApproval: "another" });
});

test("protected tags and the days until findings are due are sent as the API has them", () => {
  expect(changesBetween(before, { ...before, protectedTags: " env,team " })).toBeNull();
  expect(changesBetween(before, { ...before, protectedTags: "" })).toEqual({ protectedTags: [] });
  expect(changesBetween(before, { ...before, protectedTags: "env, team, owner" })).toEqual({
    protectedTags: ["env", "team", "owner"],
  });
  expect(changesBetween(before, { ...before, dueHigh: "14" })).toEqual({ dueDays: { high: 14 } });
});

test.each([
  ["reportRetentionDays", 365, true],
  ["reportRetentionDays", 366, false],
  ["reportRetentionDays", "", false],
  ["silentMinutes", 1.5, false],
  ["volumePercent", 0, false],
  ["name", " ", false],
  ["paperSize", "Letter", true],
  ["protectedTags", "team, cost-center", true],
  ["protectedTags", "Team", false],
  ["dueLow", 3651, false],
] as const)("%s %j is allowed: %s", (setting, value, allowed) => {
  expect(outOfBounds(setting, value) === null).toBe(allowed);
});

test("a value is read in words, or with its unit", () => {
  expect(written("statementTexts", "off")).toBe("Keep none");
  expect(written("paperSize", "Letter")).toBe("Letter");
  expect(written("volumePercent", 90)).toBe("90 %");
});

test("an own change is kept over another member's, and nothing else of theirs is undone", () => {
  const mine = { ...before, reportRetentionDays: "90" };
  const theirs = { ...before, reportRetentionDays: 60, paperSize: "Letter" };
  expect(rebased(before, mine, theirs)).toEqual({ ...before, reportRetentionDays: "90", paperSize: "Letter" });
});
