import { describe, expect, test } from "vitest";
import { requestSearch } from "../url/schemas";
import { parseSearch, stringifySearch } from "../url/search";
import { requestAgainSearch } from "./requestAgain";
import { bodyOf, type Fill, fillOf, leftOut, missing, searchOf, withKind, withSpan, wrongWith } from "./requestForm";

const a = "01a20057-1fbb-74ef-a905-b5618f497d95";
const b = "01a20057-1fbb-7608-a39d-cc84ce573fed";
const me = "01a20057-9918-774c-9894-3d6d73545da1";
const now = new Date("2026-11-20T12:00:30Z");
const scorecard: Fill = {
  kind: "InstanceScorecard",
  instanceIds: [a],
  databaseId: null,
  span: "custom",
  from: "2026-10-01T00:00",
  to: "2026-11-01T00:00",
  recipientIds: [],
};

describe("the address is the form", () => {
  test.each<[string, Fill]>([
    ["a scorecard of a database", { ...scorecard, databaseId: b, span: "7d", from: "", to: "" }],
    ["a custom range", scorecard],
    ["half a custom range", { ...scorecard, from: "" }],
    ["all servers", { ...scorecard, kind: "Security", instanceIds: undefined, span: "30d", from: "", to: "" }],
    ["a choice not made", { ...scorecard, kind: "DataInventory", instanceIds: [], span: "30d", from: "", to: "" }],
    [
      "servers and recipients",
      { ...scorecard, kind: "Security", instanceIds: [a, b], span: "30d", from: "", to: "", recipientIds: [b] },
    ],
  ])("%s is read back as it was written", (_, fill) => {
    const address = stringifySearch(searchOf(fill));
    expect(fillOf(requestSearch(parseSearch(address.slice(1))))).toEqual(fill);
  });

  test("an empty address is a scorecard of the past 30 days", () => {
    expect(fillOf({})).toMatchObject({ kind: "InstanceScorecard", span: "30d", instanceIds: undefined });
  });

  test("a window is left out and named for a kind without one", () => {
    const search = { kind: "Security" as const, range: "7d" as const, databaseId: b };
    expect(leftOut(search)).toEqual(["databaseId", "range"]);
    expect(searchOf(fillOf(search))).toEqual({ kind: "Security" });
    expect(leftOut({ kind: "InstanceScorecard", range: "7d" })).toEqual([]);
  });

  test("a past report comes back with its own window", () => {
    const scope = { instanceIds: [a], databaseId: null, from: "2026-10-01T00:00:00Z", to: "2026-10-31T00:00:00Z" };
    expect(fillOf(requestAgainSearch({ kind: "InstanceScorecard", scope }))).toEqual({
      ...scorecard,
      to: "2026-10-31T00:00",
    });
    const everything = { instanceIds: [], databaseId: null, from: null, to: null };
    expect(requestAgainSearch({ kind: "Security", scope: everything })).toEqual({ kind: "Security" });
  });
});

describe("validation", () => {
  test.each([
    ["31 days exactly", "2026-10-01T00:00", "2026-11-01T00:00", {}],
    ["a minute more", "2026-10-01T00:00", "2026-11-01T00:01", { to: /at most 31 days; this is 31 days and 1 min/ }],
    ["32 days", "2026-10-01T00:00", "2026-11-02T00:00", { to: /this is 32 days\./ }],
    ["no width", "2026-10-01T00:00", "2026-10-01T00:00", { to: /after From/ }],
    ["backwards", "2026-10-02T00:00", "2026-10-01T00:00", { to: /after From/ }],
    ["five minutes ahead", "2026-11-01T00:00", "2026-11-20T12:05", {}],
    ["six minutes ahead", "2026-11-01T00:00", "2026-11-20T12:06", { to: /future/ }],
    ["from tomorrow", "2026-11-21T00:00", "2026-11-22T00:00", { from: /future/, to: /future/ }],
  ])("%s", (_, from, to, expected) => {
    const wrong = wrongWith({ ...scorecard, from, to }, me, now);
    expect(Object.keys(wrong)).toEqual(Object.keys(expected));
    for (const [field, text] of Object.entries(expected)) expect(wrong[field as "to"]).toMatch(text as RegExp);
  });

  test("a scorecard of two servers, and more than 100 for the others", () => {
    expect(wrongWith({ ...scorecard, instanceIds: [a, b] }, me, now).instanceIds).toMatch(/2 instances/);
    const many = Array.from({ length: 101 }, (_, i) => `${i}`);
    expect(wrongWith({ ...scorecard, kind: "Security", instanceIds: many }, me, now).instanceIds).toMatch(
      /at most 100/,
    );
    expect(wrongWith({ ...scorecard, kind: "Security", instanceIds: many.slice(1) }, me, now)).toEqual({});
  });

  test("twenty recipients with the requester, who counts once", () => {
    const nineteen = Array.from({ length: 19 }, (_, i) => `${i}`);
    expect(wrongWith({ ...scorecard, recipientIds: [me, ...nineteen] }, me, now)).toEqual({});
    expect(wrongWith({ ...scorecard, recipientIds: [...nineteen, "x"] }, me, now).recipientIds).toMatch(/21/);
  });

  test("a missing value is named, and not called invalid", () => {
    expect(missing({ ...scorecard, instanceIds: undefined })).toMatch(/Choose an instance/);
    expect(missing({ ...scorecard, to: "" })).toMatch(/both From and To/);
    expect(missing({ ...scorecard, kind: "Security", instanceIds: [] })).toMatch(/at least one/);
    expect(missing({ ...scorecard, kind: "Security", instanceIds: undefined })).toBeNull();
    expect(wrongWith({ ...scorecard, to: "" }, me, now)).toEqual({});
  });
});

test("a change of the kind keeps the common fields", () => {
  const two = { ...scorecard, kind: "Security" as const, instanceIds: [a, b] };
  expect(withKind(two, "InstanceScorecard").instanceIds).toBeUndefined();
  expect(withKind(two, "DataInventory").instanceIds).toEqual([a, b]);
  expect(withKind({ ...scorecard, databaseId: b }, "Security")).toMatchObject({ instanceIds: [a], databaseId: null });
});

test("a custom range begins as the preset it replaces", () => {
  expect(withSpan({ ...scorecard, span: "7d" }, "custom", now)).toMatchObject({
    from: "2026-11-13T12:00",
    to: "2026-11-20T12:00",
  });
});

test("a request has a window only for a scorecard", () => {
  expect(bodyOf({ ...scorecard, span: "7d" }, now).scope).toEqual({
    instanceIds: [a],
    from: "2026-11-13T12:00:30.000Z",
    to: "2026-11-20T12:00:30.000Z",
  });
  expect(bodyOf({ ...scorecard, kind: "Security", instanceIds: undefined }, now)).toEqual({
    kind: "Security",
    scope: { instanceIds: [] },
    recipientIds: [],
  });
});

test("a report is requested for servers with tags and members of teams; the address is read back", () => {
  const team = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1d01";
  const fill: Fill = {
    ...fillOf({ kind: "Security" }),
    tags: ["env:prod", "env:staging", "team:payments"],
    teamIds: [team],
  };
  expect(fillOf(requestSearch(parseSearch(stringifySearch(searchOf(fill)))))).toEqual(fill);
  expect(bodyOf(fill, now)).toMatchObject({
    scope: { instanceIds: [], tags: { env: ["prod", "staging"], team: ["payments"] } },
    teamIds: [team],
  });
  expect(missing(fill)).toBeNull();
  expect(missing({ ...fill, tags: [] })).toBe("Enter at least one tag, or choose all instances.");
  expect(wrongWith({ ...fill, tags: ["prod"] }, "", now).tags).toContain("“prod” is not a tag.");
  expect(withKind(fill, "InstanceScorecard").tags).toBeUndefined();
});
