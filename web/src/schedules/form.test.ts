import { expect, test } from "vitest";
import { bodyOf, fillOf, formOf, newForm, recurrenceOf, withFill } from "./form";
import type { Schedule } from "./words";

const instance = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01";
const begun = newForm({}, "Europe/Amsterdam");

test("a new schedule has the report of the request form", () => {
  expect(begun).toMatchObject({ kind: "Security", instanceIds: undefined, every: "week", weekday: "monday" });
  const asked = newForm({ kind: "InstanceScorecard", instanceId: [instance], range: "30d" }, "UTC");
  expect(asked).toMatchObject({ kind: "InstanceScorecard", instanceIds: [instance], window: "30d", timeZone: "UTC" });
});

test("only fields of the chosen recurrence are sent", () => {
  expect(recurrenceOf(begun)).toEqual({
    every: "week",
    weekday: "monday",
    at: "08:00",
    timeZone: "Europe/Amsterdam",
  });
  const { at, timeZone } = begun;
  expect(recurrenceOf({ ...begun, every: "day" })).toEqual({ every: "day", at, timeZone });
  expect(recurrenceOf({ ...begun, every: "month", dayOfMonth: "-1" })).toEqual({
    every: "month",
    dayOfMonth: -1,
    at,
    timeZone,
  });
  expect(recurrenceOf({ ...begun, at: "" })).toBeNull();
});

test("a scorecard alone has a window and a database", () => {
  const form = { ...begun, name: " Mondays ", databaseId: instance, window: "30d" as const };
  expect(bodyOf(form)).toMatchObject({ name: "Mondays", scope: { instanceIds: [] } });
  expect(Object.keys(bodyOf(form).scope ?? {})).toEqual(["instanceIds"]);
  expect(bodyOf({ ...form, kind: "InstanceScorecard", instanceIds: [instance] }).scope).toEqual({
    instanceIds: [instance],
    databaseId: instance,
    window: "30d",
  });
});

test("a data inventory is not compared with the last one", () => {
  const form = { ...begun, onlyIfChanged: true };
  expect(bodyOf(form).onlyIfChanged).toBe(true);
  expect(withFill(form, { ...fillOf(form), kind: "DataInventory" }).onlyIfChanged).toBe(false);
  expect(bodyOf({ ...form, kind: "DataInventory" }).onlyIfChanged).toBe(false);
});

test("a schedule is read back as it was sent", () => {
  const teams = { teamIds: [instance], perTeam: true };
  const sent = bodyOf({ ...begun, ...teams, name: "A", every: "month", dayOfMonth: "31", recipientIds: [instance] });
  const read = { ...sent, kind: "Security", scope: { instanceIds: [], databaseId: null, window: null } };
  expect(bodyOf(formOf(read as unknown as Schedule))).toEqual(sent);
});

test("the servers with tags, and one report for each team", () => {
  const form = { ...newForm({ kind: "Security", tag: ["env:prod"], teamId: [instance] }, "UTC"), name: "Mondays" };
  const body = bodyOf({ ...form, perTeam: true, onlyIfChanged: true });
  expect(body).toMatchObject({
    scope: { instanceIds: [], tags: { env: ["prod"] } },
    teamIds: [instance],
    perTeam: true,
    // The two exclude each other.
    onlyIfChanged: false,
  });
  const read = { ...body, kind: "Security", scope: { ...body.scope, databaseId: null, window: null } };
  expect(formOf(read as unknown as Schedule)).toMatchObject({ tags: ["env:prod"], teamIds: [instance], perTeam: true });
  expect(withFill({ ...form, perTeam: true }, { ...fillOf(form), kind: "InstanceScorecard" })).toMatchObject({
    tags: undefined,
    perTeam: false,
  });
  // What is no longer chosen is taken back.
  expect(bodyOf({ ...form, tags: undefined, teamIds: [] })).toMatchObject({ teamIds: [], perTeam: false });
});
