import { expect, test } from "vitest";
import { bodyOf, formOf, matchOf, newRule } from "./ruleForm";
import type { Rule } from "./words";

const begun = { ...newRule("Europe/Amsterdam"), name: " On call ", channelIds: ["c"] };

test("a new rule sends critical alerts, raised and resolved", () => {
  expect(bodyOf(begun)).toEqual({
    name: "On call",
    match: {
      severity: ["critical"],
      engine: [],
      instanceIds: [],
      nameContains: null,
      event: ["alert.raised", "alert.resolved"],
    },
    channelIds: ["c"],
    groupSeconds: 10,
    repeatMinutes: 0,
    quiet: null,
  });
});

test("conditions for alerts are left out of a rule without alerts", () => {
  const reports = matchOf({ ...begun, engine: ["oracle"], nameContains: "prod", event: ["report.failed"] });
  expect(reports).toMatchObject({ severity: [], engine: [], nameContains: null, event: ["report.failed"] });
  expect(matchOf({ ...begun, nameContains: " prod ", event: [] })).toMatchObject({
    severity: ["critical"],
    nameContains: "prod",
  });
});

test("quiet hours are sent as entered, and removed if they are off", () => {
  const quiet = { from: "22:00", to: "07:00", timeZone: "Europe/Amsterdam", exceptCritical: true };
  expect(bodyOf({ ...begun, isQuiet: true }).quiet).toEqual(quiet);
});

test("a rule is read back as it was sent", () => {
  const sent = bodyOf({ ...begun, isQuiet: true, quietZone: "UTC", groupSeconds: "0", repeatMinutes: "240" });
  expect(bodyOf(formOf(sent as unknown as Rule, "UTC"))).toEqual(sent);
});
