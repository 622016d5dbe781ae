import { expect, test } from "vitest";
import { type Marked, marksOf } from "./markedAlerts";

const from = Date.parse("2026-11-20T00:00:00Z");
const to = Date.parse("2026-11-20T02:00:00Z");
const alert = (first: string, resolved: string | null, severity = "warning"): Marked => ({
  title: `at ${first}`,
  severity: severity as Marked["severity"],
  firstTriggeredAt: `2026-11-${first}:00Z`,
  resolvedAt: resolved && `2026-11-${resolved}:00Z`,
  instance: { id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01", name: "orders" },
});
const shown = (alerts: Marked[], total = alerts.length) => marksOf(alerts, total, from, to);

test("only alerts raised or resolved within the window are marked", () => {
  const marks = shown([
    alert("20T00:10", "20T00:40"),
    alert("19T20:00", "20T01:00"),
    alert("20T01:30", null, "critical"),
    alert("19T10:00", "19T11:00"),
    alert("20T03:00", null),
  ]);
  expect(marks?.marks.map((m) => [new Date(m.at).toISOString().slice(11, 16), m.hollow, m.tone])).toEqual([
    ["00:40", true, "warning"],
    ["01:00", true, "warning"],
    ["00:10", false, "warning"],
    ["01:30", false, "critical"],
  ]);
  expect(marks?.label).toBe("Marks: 2 alerts raised and 2 resolved in this window");
});

test("alerts close to each other are one mark, with the worst severity", () => {
  const many = Array.from({ length: 7 }, (_, i) => alert("20T00:30", null, i === 3 ? "critical" : "info"));
  const marks = shown(many, 400);
  expect(marks?.marks).toHaveLength(1);
  expect(marks?.marks[0]?.tone).toBe("critical");
  expect(marks?.marks[0]?.label).toContain("7 alerts raised: at 20T00:30 (orders);");
  expect(marks?.label).toBe("Marks: 7 alerts raised and 0 resolved in this window, of the first 7 alerts");
});

test("a window without alerts has no marks", () => {
  expect(shown([alert("19T10:00", "19T11:00")])).toBeNull();
  expect(shown([])).toBeNull();
});
