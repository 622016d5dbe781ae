import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { lastAdminOf } from "./members";

const page = (members: [string, string, string][], totalPages = 1): Schemas["MemberPage"] => ({
  items: members.map(([id, role, status]) => ({ id, role, status, name: id, email: id, lastSignInAt: null })),
  page: { number: 1, size: 200, totalItems: members.length, totalPages },
});

test.each([
  [
    "one active administrator",
    page([
      ["a", "admin", "active"],
      ["b", "member", "active"],
    ]),
    "a",
  ],
  [
    "an invited one is none yet",
    page([
      ["a", "admin", "active"],
      ["b", "admin", "invited"],
    ]),
    "a",
  ],
  [
    "two",
    page([
      ["a", "admin", "active"],
      ["b", "admin", "active"],
    ]),
    null,
  ],
  ["not everybody is known", page([["a", "admin", "active"]], 2), null],
  ["nobody is known", undefined, null],
])("the last administrator: %s", (_, everybody, expected) => {
  expect(lastAdminOf(everybody)).toBe(expected);
});
