import { expect, test } from "vitest";
import { toCSV } from "./csv";
import { detailsOf } from "./details";
import { told } from "./sentence";
import { aboutOf, groups, typeInWords } from "./words";

const ana = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a02";
const gone = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a03";
const report = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a04";
const known: Record<string, string> = { [ana]: "Ana Ruiz", [gone]: "", [report]: "Security, all instances" };
const nameOf = (id: string) => known[id];

test("an entry is shown in words, with names for ids", () => {
  expect(
    detailsOf(
      {
        requestId: "01ABC",
        ip: "192.0.2.7",
        recipientIds: [ana, gone],
        reportRetentionDays: { from: 30, to: 90 },
        fingerprint: "9f2c",
        error: null,
        reason: "",
      },
      nameOf,
    ),
  ).toEqual([
    { name: "IP address", value: "192.0.2.7" },
    { name: "Recipients", value: "Ana Ruiz, an erased member" },
    { name: "Days that reports are kept", value: "30 → 90" },
  ]);
});

test.each([
  ["downloaded", report, {}, "downloaded the report Security, all instances"],
  ["emailSent", report, { memberId: ana }, "e-mailed the report Security, all instances to Ana Ruiz"],
  // F12: the e-mail is a file.
  [
    "emailSent",
    report,
    { memberId: ana, smtpCode: 0 },
    "kept the e-mail about the report Security, all instances to Ana Ruiz in the outbox: no mail server is set",
  ],
  ["memberErased", null, { memberId: gone }, "erased a member"],
  ["memberInvited", null, { memberId: ana, role: "viewer" }, "invited Ana Ruiz as viewer"],
  ["instanceRemoved", ana.replace("02", "99"), {}, "removed the instance that no longer exists"],
  ["instanceRegistered", ana.replace("02", "99"), { name: "orders" }, "added the instance orders"],
  ["tokenFirstUsed", null, { detail: ana }, "used a token for the first time: Ana Ruiz"],
  ["signedOut", null, {}, "signed out"],
  ["somethingNew", null, {}, "somethingNew"],
])("an entry %s says who did what to what", (type, subjectId, data, want) => {
  expect(told({ type, subjectId, data }, nameOf)).toBe(want);
});

test("every type of the filter has a sentence", () => {
  for (const type of groups.flatMap((group) => Object.keys(group.types))) {
    expect(told({ type, subjectId: report, data: { memberId: ana } }, nameOf), type).toMatch(/^[a-z]/);
  }
});

test("a new type is shown by its own name, and no type is in two groups", () => {
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
      [" =1+1", "＝1"],
    ]),
  ).toBe('a,"say ""x"", y"\r\n\'=1+1,"two\nlines"\r\n\' =1+1,\'＝1\r\n');
});
