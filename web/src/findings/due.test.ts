import { expect, test } from "vitest";
import { brokenTicket, overdueLine, overdueWords, ticketName } from "./due";

test("the dashboard counts overdue findings, and shows nothing if there are none", () => {
  expect(overdueLine(43)).toBe("43 findings overdue");
  expect(overdueLine(1)).toBe("1 finding overdue");
  expect(overdueLine(1_234)).toBe("1,234 findings overdue");
  for (const none of [0, null, undefined]) expect(overdueLine(none)).toBeNull();
});

test("a finding shows its days overdue", () => {
  expect(overdueWords({ overdueDays: 1 })).toBe("1 day overdue");
  expect(overdueWords({ overdueDays: 0 })).toBeNull();
});

test.each([
  ["https://tickets.example.org/browse/DBA-112", "DBA-112"],
  ["https://tickets.example.org/a%20b/", "a b"],
  ["https://tickets.example.org", "tickets.example.org"],
  ["https://tickets.example.org/%ff", "%ff"],
])("the ticket %s is called %s", (address, name) => {
  expect(ticketName(address)).toBe(name);
});

test.each([
  ["", true],
  ["https://tickets.example.org/1", true],
  ["http://tickets.example.org/1", true],
  ["javascript:alert(1)", false],
  ["DBA-112", false],
  ["https://ana:secret@tickets.example.org/1", false],
  [`https://tickets.example.org/${"a".repeat(2_000)}`, false],
])("%s can be a ticket: %s", (address, can) => {
  expect(brokenTicket(address) === null).toBe(can);
});
