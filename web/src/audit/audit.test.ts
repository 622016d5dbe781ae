import { expect, test } from "vitest";
import { toCSV } from "./csv";
import { detailsOf } from "./details";
import { aboutOf, groups, typeInWords } from "./words";

test("what was recorded is read in words, with names for ids", () => {
  const nameOf = (id: string) => (id === "m1" ? "Ana Ruiz" : undefined);
  expect(
    detailsOf(
      {
        ip: "192.0.2.7",
        memberId: "m1",
        reportRetentionDays: { from: 30, to: 90 },
        scopes: ["a", "b"],
        error: null,
        x: "",
      },
      nameOf,
    ),
  ).toEqual([
    { name: "IP", value: "192.0.2.7" },
    { name: "Member", value: "Ana Ruiz" },
    { name: "Report retention days", value: "30 → 90" },
    { name: "Scopes", value: "a, b" },
  ]);
});

test("a scope with a window among others is not read as a change", () => {
  const scope = { instanceIds: ["m1"], databaseId: null, from: null, to: null };
  expect(detailsOf({ scope }, () => undefined)).toEqual([{ name: "Scope", value: JSON.stringify(scope) }]);
});

test("a type that is new is its own name, and no type stands in two groups", () => {
  expect(typeInWords("signedIn")).toBe("Signed in");
  expect(typeInWords("somethingNew")).toBe("somethingNew");
  expect(typeInWords("constructor")).toBe("constructor");
  expect(aboutOf("ready")).toBe("report");
  const all = groups.flatMap((group) => Object.keys(group.types));
  expect(new Set(all).size).toBe(all.length);
});

test("CSV quotes what needs it and starts no formula", () => {
  expect(
    toCSV([
      ["a", 'say "x", y'],
      ["=1+1", "two\nlines"],
    ]),
  ).toBe('a,"say ""x"", y"\r\n\'=1+1,"two\nlines"\r\n');
});
