// Reports by the calendar: the form, one schedule with its runs, and what was mailed.
import type { Page, Route } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, violations, visit } from "./browser";
import { settled, sideways } from "./pages";

const unique = (what: string) => `${what} ${Date.now()}-${Math.floor(Math.random() * 1e6)}`;
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
const dues = (page: Page) => page.locator("[data-dues] time").evaluateAll((all) => all.map((t) => t.textContent));

let runs: Schemas["Schedule"];

// Due at the next full minute: it has run, or is about to, when the last test looks. A scorecard up to that minute is
// what no other test asks for.
beforeAll(async () => {
  const found = await apiAs("viewer", "GET", "/api/v1/instances?q=demo-pg-orders-01");
  const { items } = (await found.json()) as { items: { id: string }[] };
  const soon = new Date(Math.ceil((Date.now() + 2_000) / 60_000) * 60_000);
  const body = {
    name: unique("e2e runs"),
    kind: "InstanceScorecard",
    scope: { instanceIds: [items[0]?.id], window: "7d" },
    every: "day",
    at: soon.toISOString().slice(11, 16),
    timeZone: "UTC",
  };
  const made = await apiAs("member", "POST", "/api/v1/schedules", body);
  expect(made.status).toBe(201);
  runs = (await made.json()) as Schemas["Schedule"];
});

test("a schedule is filled in beside its next due times, kept, changed, switched off and removed", async () => {
  const name = unique("e2e schedule");
  const page = await visit("/schedules/new?kind=DataInventory", { as: "member" });
  await page.getByRole("button", { name: "Create schedule" }).click();
  await page.getByText("Enter a name.").waitFor();
  await expect.poll(() => page.getByLabel("Name").evaluate((field) => document.activeElement === field)).toBe(true);
  await page.getByLabel("Name").fill(name);
  expect(await page.getByRole("radio", { name: "Data inventory" }).isChecked()).toBe(true);
  expect(await page.getByLabel("Only if the findings changed").count()).toBe(0);
  await page.getByText("Security", { exact: true }).click();
  await page.getByLabel("Only if the findings changed").check();

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
  await page.getByRole("button", { name: "Switch on" }).click();
  await expect.poll(async () => (await dues(page)).length).toBe(5);
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
const fates = [
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
    route.fulfill({ json: { items: fates, page: { number: 1, size: 20, totalItems: 5, totalPages: 1 } } }),
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
    .getByText("no new one was made", { exact: false })
    .waitFor();
  await table.getByRole("row").filter({ hasText: "Waiting for room" }).waitFor();
  const report = table.getByRole("row").filter({ hasText: "Requested" }).getByRole("link", { name: "Open the report" });
  expect(await report.getAttribute("href")).toBe(`/reports/${fates[4]?.reportId}`);
  await expect.poll(async () => (await dues(page))[0]).toMatch(/^Mon.*08:00$/);
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 800 });
  await page.getByRole("region", { name: "Runs" }).getByText("Muster was not running.").waitFor(); // as cards
  expect(await sideways(page)).toBe(false);
  expect(await violations(page), "on a phone").toEqual([]);
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

test("what the server refuses stands at its field, in its words", async () => {
  const page = await visit("/schedules/new", { as: "member", expected: [/status of 422/] });
  // A zone that the browser knows and the server does not; the answer is the server's own.
  await page.route("**/api/v1/schedules", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    const asked = route.request().postDataJSON();
    return route.continue({ postData: JSON.stringify({ ...asked, timeZone: "Atlantis/Capital" }) });
  });
  await page.getByLabel("Name").fill(unique("e2e refused"));
  await page.getByLabel("Name").press("Enter");
  const zone = page.getByRole("combobox", { name: "Time zone" });
  await expect.poll(() => zone.getAttribute("aria-invalid")).toBe("true");
  await page.getByText("no time zone of the IANA database", { exact: false }).waitFor();
  await expect.poll(() => zone.evaluate((field) => document.activeElement === field)).toBe(true);
});

test("without a schedule the page says what one is for; a schedule that is not there says so", async () => {
  const none = { items: [], page: { number: 1, size: 20, totalItems: 0, totalPages: 0 } };
  const page = await visit("/schedules", {
    as: "member",
    expected: [/status of 404/],
    before: (p) =>
      p.route(
        ({ pathname }) => pathname === "/api/v1/schedules",
        (route) => route.fulfill({ json: none }),
      ),
  });
  await page.getByText("Create one for a report that you need every day, week or month.").waitFor();
  await page.goto(`/schedules/${id}`);
  await page.getByText("This schedule does not exist").waitFor();
  await page.getByRole("link", { name: "Go to schedules" }).click();
  await page.waitForURL(/\/schedules$/);
});

test("a schedule runs by itself; from its run to the report, and to the very mail that was sent", async () => {
  const path = `/api/v1/schedules/${runs.id}`;
  const last = async () => ((await (await apiAs("viewer", "GET", path)).json()) as Schemas["Schedule"]).lastRun;
  await expect.poll(async () => (await last())?.status, { timeout: 75_000, interval: 250 }).toBe("requested");
  const run = (await last()) as Schemas["ScheduleRun"];
  expect(run).toMatchObject({ dueAt: runs.nextDueAts[0], reason: null });
  const mails = `/api/v1/reports/${run.reportId}/mails`;
  const sent = async () => ((await (await apiAs("auditor", "GET", mails)).json()) as { items: unknown[] }).items;
  await expect.poll(async () => (await sent()).length, { timeout: 30_000, interval: 250 }).toBe(1);

  const page = await visit("/schedules", { as: "auditor" });
  await row(page, runs.name).getByText("Requested").waitFor();
  await row(page, runs.name).getByRole("link", { name: runs.name }).click();
  const table = page.getByRole("table", { name: "Runs" });
  await table.getByRole("cell", { name: "Requested" }).waitFor();
  await table.getByRole("link", { name: "Open the report" }).click();
  await page.waitForURL(`**/reports/${run.reportId}`);
  const button = page.getByRole("button", { name: "Show the e-mail to Mia Member" });
  await button.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("heading", { level: 2, name: /Per-Instance Scorecard ready/ }).waitFor();
  expect(await violations(page), "the mail").toEqual([]);
  const letter = dialog.frameLocator("iframe").getByRole("link", { name: "Sign in and download" });
  expect(await letter.getAttribute("href")).toContain(`/exports?reportId=${run.reportId}`);
  await dialog.getByText("Source", { exact: true }).click();
  const raw = (await dialog.getByRole("region", { name: "As sent" }).textContent()) ?? "";
  expect(raw).toContain("Message-ID:");
  expect(raw).toContain(run.reportId ?? "");
  await page.keyboard.press("Escape");
  await expect.poll(() => button.evaluate((field) => document.activeElement === field)).toBe(true);

  const member = await visit(`/reports/${run.reportId}`, { as: "member" });
  await member.getByRole("region", { name: "Recipients", exact: true }).waitFor();
  expect(await member.getByRole("button", { name: "Show the e-mail" }).count()).toBe(0);
  expect((await apiAs("member", "DELETE", path)).status).toBe(204);
}, 120_000);
