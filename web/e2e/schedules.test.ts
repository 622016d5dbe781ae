// Reports by the calendar: the form, one schedule with its runs, and what was mailed.
import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, violations, visit } from "./browser";
import { settled, sideways } from "./pages";

const unique = (what: string) => `${what} ${Date.now()}-${Math.floor(Math.random() * 1e6)}`;
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
const dues = (page: Page) => page.locator("[data-dues] time").evaluateAll((all) => all.map((t) => t.textContent));

test("a schedule is filled in beside its next due times, kept, changed, switched off and removed", async () => {
  const name = unique("e2e schedule");
  const page = await visit("/schedules/new?kind=DataInventory", { as: "member" });
  await page.getByRole("button", { name: "Create schedule" }).click();
  await page.getByText("Enter a name.").waitFor();
  await expect.poll(() => page.getByLabel("Name").evaluate((field) => document.activeElement === field)).toBe(true);
  await page.getByLabel("Name").fill(name);
  expect(await page.getByRole("radio", { name: "Data inventory" }).isChecked()).toBe(true);
  expect(await page.getByLabel("E-mail only if the findings changed").count()).toBe(0);
  await page.getByText("Security", { exact: true }).click();
  await page.getByLabel("E-mail only if the findings changed").check();

  await page.getByText("Every month", { exact: true }).click();
  await page.getByRole("combobox", { name: "Day of the month" }).click();
  await page.getByRole("option", { name: "the last day" }).click();
  await page.getByLabel("Time", { exact: true }).fill("17:30");
  await page.getByRole("combobox", { name: "Time zone" }).fill("Sao_Paulo");
  await page.getByRole("option", { name: "America/Sao_Paulo" }).click();
  await expect.poll(async () => (await dues(page)).filter((due) => due?.endsWith("17:30")).length).toBe(5);
  await page
    .getByText(/20:30 in your time zone/)
    .first()
    .waitFor(); // UTC−3 all year round
  expect(await violations(page), "the form").toEqual([]);
  await page.getByRole("button", { name: "Create schedule" }).click();

  await page.waitForURL(/\/schedules\/[0-9a-f-]{36}$/);
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.getByText("On the last day of every month at 17:30, America/Sao_Paulo", { exact: false }).waitFor();
  await page.getByText("The schedule was not due yet.").waitFor();
  expect(await dues(page)).toHaveLength(5);

  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByText("Every week", { exact: true }).click();
  await page.getByRole("combobox", { name: "Weekday" }).click();
  await page.getByRole("option", { name: "Friday" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Every Friday at 17:30", { exact: false }).waitFor();
  await expect.poll(async () => (await dues(page)).filter((due) => due?.startsWith("Fri")).length).toBe(5);

  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByText("None: the schedule is off.").waitFor();
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Schedules" }).click();
  await row(page, name).getByText("Off").waitFor();
  await row(page, name).getByRole("link", { name }).click();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.waitForURL(/\/schedules$/);
  await row(page, name).waitFor({ state: "detached" });
}, 90_000);

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 30, 7) + minutes * 60_000).toISOString();
const owner = { id: "0199f0d2-7a10-7c44-9b0e-000000000001", name: "Ana Ruiz" };
const id = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1b01";
const schedule: Schemas["Schedule"] = {
  id,
  name: "Security on Mondays",
  kind: "Security",
  scope: { instanceIds: [], databaseId: null, window: null },
  scopeLabel: "All active instances",
  recipientIds: [],
  every: "week",
  weekday: "monday",
  dayOfMonth: null,
  at: "08:00",
  timeZone: "Europe/Amsterdam",
  onlyIfChanged: true,
  enabled: true,
  paused: "owner_disabled",
  owner,
  createdAt: at(-60_000),
  nextDueAts: [0, 1, 2, 3, 4].map((week) => at(week * 7 * 1440)),
  lastRun: null,
};
const run = (weeks: number, more: Partial<Schemas["ScheduleRun"]>): Schemas["ScheduleRun"] => ({
  dueAt: at(-weeks * 7 * 1440),
  startedAt: null,
  status: "requested",
  reportId: null,
  reason: null,
  ...more,
});
const runs = [
  run(1, { status: "paused", reason: "owner_disabled" }),
  run(2, { status: "waiting" }),
  run(3, { status: "missed", reason: "away" }),
  run(4, { status: "unchanged", startedAt: at(-4 * 7 * 1440) }),
  run(5, { startedAt: at(-5 * 7 * 1440), reportId: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a55" }),
];

/** stubbed answers for a schedule that the demo has no time to get. */
async function stubbed(page: Page, changed: unknown[] = []) {
  await page.route(`**/api/v1/schedules/${id}`, async (route: Route) => {
    if (route.request().method() === "GET") return route.fulfill({ json: schedule });
    changed.push(route.request().postDataJSON());
    return route.fulfill({ json: { ...schedule, paused: null } });
  });
  await page.route(`**/api/v1/schedules/${id}/runs*`, (route) =>
    route.fulfill({ json: { items: runs, page: { number: 1, size: 20, totalItems: 5, totalPages: 1 } } }),
  );
}

test("each due time says what became of it, and why; an administrator takes a paused schedule over", async () => {
  const changed: unknown[] = [];
  const page = await visit(`/schedules/${id}`, { before: (p) => stubbed(p, changed) });
  await page.getByText("Its owner is disabled. No report is requested until", { exact: false }).waitFor();
  const table = page.getByRole("table", { name: "Runs" });
  await table.getByRole("row").filter({ hasText: "Missed" }).getByText("Muster was not running.").waitFor();
  await table
    .getByRole("row")
    .filter({ hasText: "Unchanged" })
    .getByText("nobody was e-mailed", { exact: false })
    .waitFor();
  await table.getByRole("row").filter({ hasText: "Waiting for room" }).waitFor();
  const report = table.getByRole("row").filter({ hasText: "Requested" }).getByRole("link", { name: "Open the report" });
  expect(await report.getAttribute("href")).toBe(`/reports/${runs[4]?.reportId}`);
  await expect.poll(async () => (await dues(page))[0]).toMatch(/^Mon.*08:00$/);
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page)).toBe(false);
  await page.setViewportSize({ width: 1320, height: 900 });
  await page.getByRole("button", { name: "Take over" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Take over" }).click();
  await expect.poll(() => changed).toEqual([{ takeOver: true }]);
});

test("a viewer reads schedules and changes none", async () => {
  const page = await visit(`/schedules/${id}`, { as: "viewer", before: (p) => stubbed(p) });
  await page.getByRole("table", { name: "Runs" }).waitFor();
  for (const name of ["Take over", "Switch off", "Remove"]) {
    expect(await page.getByRole("button", { name }).count(), name).toBe(0);
  }
  await page.goto("/schedules");
  await page.getByRole("heading", { level: 1, name: "Schedules" }).waitFor();
  expect(await page.getByRole("link", { name: "New schedule" }).count()).toBe(0);
});

test("an auditor reads the very mail that a recipient of a report was sent", async () => {
  const list = await (await apiAs("admin", "GET", "/api/v1/reports?kind=Security&status=Ready")).json();
  const reports = (list as { items: Schemas["Report"][] }).items;
  const report = await mailed(reports.map((r) => r.id));
  const page = await visit(`/reports/${report}`, { as: "auditor" });
  await page.getByRole("button", { name: "Show the e-mail" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("heading", { level: 2 }).last().waitFor();
  await dialog.getByText("Source", { exact: true }).click();
  const raw = (await dialog.getByRole("region", { name: "As sent" }).textContent()) ?? "";
  expect(raw).toContain("Message-ID:");
  expect(raw).toContain(report);
  const member = await visit(`/reports/${report}`, { as: "member" });
  await member.getByRole("region", { name: "Recipients" }).waitFor();
  expect(await member.getByRole("button", { name: "Show the e-mail" }).count()).toBe(0);
});

/** mailed is the first of some reports whose mail is kept. */
async function mailed(reports: string[]): Promise<string> {
  let found: string | undefined;
  await expect
    .poll(
      async () => {
        for (const report of reports) {
          const answer = await apiAs("auditor", "GET", `/api/v1/reports/${report}/mails`);
          const { items } = (await answer.json()) as { items: unknown[] };
          if (items.length > 0) found = report;
        }
        return found;
      },
      { timeout: 30_000 },
    )
    .toBeDefined();
  return found as string;
}
