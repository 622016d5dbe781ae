import { expect, test } from "vitest";
import { codeText, howText, type Match, quietText, summaryOf, whatText } from "./words";

const everything: Match = { severity: [], engine: [], instanceIds: [], nameContains: null, event: [] };

test("the events of a rule, in words", () => {
  expect(whatText(everything)).toBe(
    "alerts, reports that become ready or fail, scheduled reports that are missed, findings that are new, and servers that go down or come up again",
  );
  expect(whatText({ ...everything, severity: ["critical"], event: ["finding.new"] })).toBe(
    "critical findings that are new",
  );
  expect(whatText({ ...everything, severity: ["critical"], event: ["alert.raised", "report.failed"] })).toBe(
    "critical alerts that are raised and reports that fail",
  );
  expect(
    whatText({
      ...everything,
      severity: ["warning", "critical"],
      engine: ["oracle"],
      nameContains: "prod",
      event: ["alert.raised", "alert.resolved"],
    }),
  ).toBe("warning and critical alerts of Oracle, instances named like “prod” that are raised or resolved");
  expect(whatText({ ...everything, instanceIds: ["a", "b"], event: ["report.ready"] })).toBe(
    "reports of 2 instances that become ready",
  );
  expect(whatText({ ...everything, event: ["schedule.missed"] })).toBe("scheduled reports that are missed");
});

test("the delivery of a rule, in words", () => {
  const quiet = { from: "22:00", to: "07:00", timeZone: "Europe/Amsterdam", exceptCritical: true };
  expect(howText({ groupSeconds: 0, repeatMinutes: 0, quiet: null })).toBe("one by one");
  expect(howText({ groupSeconds: 60, repeatMinutes: 240, quiet })).toBe(
    "grouped for 1 min, repeated every 4 h, quiet from 22:00 to 07:00 (Europe/Amsterdam) except for critical alerts",
  );
  expect(quietText({ ...quiet, exceptCritical: false })).not.toContain("except");
});

test("a delivery on one line counts omitted events, too", () => {
  const event = { title: "Lock waits" } as Parameters<typeof summaryOf>[0]["events"][number];
  expect(summaryOf({ events: [event], omitted: 0 })).toBe("Lock waits");
  expect(summaryOf({ events: [event, event], omitted: 0 })).toBe("Lock waits and 1 more event");
  expect(summaryOf({ events: Array(100).fill(event), omitted: 9_900 })).toBe("Lock waits and 9,999 more events");
});

test("the answer of the receiver", () => {
  expect(codeText("webhook", 410)).toBe("HTTP 410");
  expect(codeText("email", 550)).toBe("SMTP 550");
  expect(codeText("chat", null)).toBeNull();
});
