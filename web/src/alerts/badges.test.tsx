import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { alertDuration, durationText, MutedBadge, SeverityBadge, StateBadge } from "./badges";

const now = new Date("2026-11-20T12:00:00Z");
const open = { firstTriggeredAt: "2026-11-20T09:02:10Z", resolvedAt: null };

test("an alert lasts until it is resolved, an open one until now", () => {
  expect(alertDuration({ ...open, resolvedAt: "2026-11-20T10:46:00Z" }, now)).toBe(6_230_000);
  expect(alertDuration(open, now)).toBe(10_670_000);
});

test("a clock behind the server's makes no negative duration", () => {
  expect(alertDuration({ ...open, firstTriggeredAt: "2026-11-20T12:00:30Z" }, now)).toBe(0);
});

test("a duration is shown to the minute, and marked as ongoing for an open alert", () => {
  expect(durationText({ ...open, resolvedAt: "2026-11-20T10:46:00Z" }, now)).toBe("1 h 43 min");
  expect(durationText({ ...open, resolvedAt: "2026-11-20T09:02:40Z" }, now)).toBe("30 s");
  expect(durationText({ ...open, firstTriggeredAt: "2026-11-20T11:45:08Z" }, now)).toBe("14 min so far");
});

test.each([
  [<SeverityBadge key="b" severity="critical" />, "Critical"],
  [<SeverityBadge key="b" severity="fatal" />, "fatal"],
  [<SeverityBadge key="b" severity="constructor" />, "constructor"],
  [<StateBadge key="b" state="AutoResolved" />, "Auto-resolved"],
  [<StateBadge key="b" state="Suppressed" />, "Suppressed"],
  [<MutedBadge key="b" />, "Muted"],
])("a badge is an icon and a text, %#", (badge, text) => {
  render(badge);
  expect(screen.getByText(text).querySelector("svg")?.getAttribute("aria-hidden")).toBe("true");
});
