// Scheduled reports: the form, one schedule with its runs, and what was mailed.
import type { Page, Route } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import {
  adminSession,
  apiAs,
  apiBy,
  fed,
  readable,
  row,
  serverUrl,
  testLong,
  unique,
  violations,
  visit,
} from "./browser";
import { settled, sideways } from "./pages";
import { joined } from "./server";

const dues = (page: Page) => page.locator("[data-dues] time").evaluateAll((all) => all.map((t) => t.textContent));

let runs: Schemas["Schedule"];
let paused: Schemas["Schedule"];
let missed: Schemas["Schedule"];
let leaver: string;

/** scheduled is a schedule that is due at the next full minute. */
async function scheduled(session: string, at: Date, report: object): Promise<Schemas["Schedule"]> {
  const when = { every: "day", at: at.toISOString().slice(11, 16), timeZone: "UTC" };
  const made = await apiBy(session, "POST", "/api/v1/schedules", { name: unique("e2e runs"), ...report, ...when });
  expect(made.status, await made.clone().text()).toBe(201);
  return (await made.json()) as Schemas["Schedule"];
}

const idOf = async (path: string) =>
  ((await (await apiAs("admin", "GET", path)).json()) as { items: { id: string }[] }).items[0]?.id ?? "";

// Due at the next full minute: they have run, or are about to, when the last tests look. One requests a scorecard up to
// that minute, which no other test asks for; the owner of one leaves before it is due, and the server of one goes.
beforeAll(async () => {
  const email = `leaver-${Date.now()}@example.org`;
  const session = await joined(serverUrl, adminSession, { email, name: "Lena Leaver", role: "member" });
  const member = await joined(serverUrl, adminSession, {
    email: "member@example.org",
    name: "Mia Member",
    role: "member",
  });
  const gone = `e2e-gone-${Date.now()}`;
  const server = {
    externalId: gone,
    name: gone,
    engine: "postgresql",
    active: false,
    createdAt: new Date().toISOString(),
  };
  const made = await fed<{ instances: { id: string }[] }>("/ingest/v1/fleet", { instances: [server] });
  const instance = made.instances[0]?.id ?? "";
  await readable(`/api/v1/instances/${instance}`);
  const soon = new Date(Math.ceil((Date.now() + 10_000) / 60_000) * 60_000);
  const orders = await idOf("/api/v1/instances?q=demo-pg-orders-01");
  runs = await scheduled(member, soon, {
    kind: "InstanceScorecard",
    scope: { instanceIds: [orders], window: "7d" },
  });
  paused = await scheduled(session, soon, { kind: "Security", scope: { instanceIds: [] } });
  missed = await scheduled(member, soon, { kind: "Security", scope: { instanceIds: [instance] } });
  leaver = await idOf(`/api/v1/members?q=${email}`);
  const left = await apiAs("admin", "PATCH", `/api/v1/members/${leaver}`, { status: "disabled" });
  expect(left.status, await left.text()).toBe(200);
  expect((await apiAs("admin", "DELETE", `/api/v1/instances/${instance}`)).status).toBe(204);
  expect(Date.now(), "nothing was due yet").toBeLessThan(soon.getTime());
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
/** local is what a server's clocks show then, which has other rules for Amsterdam than the browser. C4. */
const local = (minutes: number) => at(minutes + 120).replace(".000Z", "+02:00");
const owner = { id: "0199f0d2-7a10-7c44-9b0e-000000000001", name: "Ana Ruiz" };
const id = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1b01";
const schedule: Schemas["Schedule"] = {
  id,
  name: "Security on Mondays",
  kind: "Security",
  scope: { instanceIds: [], databaseId: null, window: null },
  scopeLabel: "All active instances",
  recipientIds: [],
  teamIds: [],
  perTeam: false,
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
  nextDueLocal: [0, 1, 2, 3, 4].map((week) => local(week * 7 * 1440)),
  lastRun: null,
  unavailable: [],
};
const run = (weeks: number, more: Partial<Schemas["ScheduleRun"]>): Schemas["ScheduleRun"] => ({
  dueAt: at(-weeks * 7 * 1440),
  dueLocal: local(-weeks * 7 * 1440),
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

testLong(
  "that nobody is told of what fails or is missed is said to administrators, with the way to a rule",
  async () => {
    let on = true;
    const page = await visit("/schedules", {
      before: (p) =>
        p.route("**/api/v1/notification-rules", async (route) => {
          const answer = (await (await route.fetch()).json()) as { items: object[] };
          await route.fulfill({ json: on ? answer : { items: answer.items.map((r) => ({ ...r, enabled: false })) } });
        }),
    });
    await page.getByRole("table", { name: "Schedules" }).waitFor();
    await page.waitForLoadState("networkidle");
    expect(await page.locator("[data-untold]").count()).toBe(0);
    on = false;
    await page.reload();
    const note = page
      .getByRole("status")
      .filter({ hasText: "A scheduled report can fail or be missed, and nobody is notified" });
    await note.getByRole("link", { name: "Add a rule" }).click();
    await page.getByRole("heading", { level: 1, name: "New notification rule" }).waitFor();
    const member = await visit("/schedules", { as: "member" });
    await member.getByRole("table", { name: "Schedules" }).waitFor();
    await member.waitForLoadState("networkidle");
    expect(await member.locator("[data-untold]").count()).toBe(0);
  },
);

testLong("each due time says what became of it, and why; an administrator takes a paused schedule over", async () => {
  const changed: unknown[] = [];
  const page = await visit(`/schedules/${id}`, { before: (p) => stubbed(p, changed) });
  const until = "No report is requested until that is over, or until an administrator takes the schedule over.";
  await page.getByText(`Its owner is disabled. ${until}`).waitFor();
  const table = page.getByRole("table", { name: "Runs" });
  await table.getByRole("row").filter({ hasText: "Missed" }).getByText("Muster was not running.").waitFor();
  await table
    .getByRole("row")
    .filter({ hasText: "Unchanged" })
    .getByText("Muster built no report", { exact: false })
    .waitFor();
  await table.getByRole("row").filter({ hasText: "Waiting for room" }).waitFor();
  const report = table.getByRole("row").filter({ hasText: "Requested" }).getByRole("link", { name: "Open the report" });
  expect(await report.getAttribute("href")).toBe(`/reports/${fates[4]?.reportId}`);
  await expect.poll(async () => (await dues(page))[0]).toMatch(/^Mon.*09:00$/);
  await page.getByText("Due times are by the clocks of Europe/Amsterdam.").waitFor();
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

testLong("without a schedule the page says what one is for; a schedule that is not there says so", async () => {
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

/** ran waits for what becomes of the due time of a schedule. */
async function ran({ id }: Schemas["Schedule"], status: string): Promise<Schemas["ScheduleRun"]> {
  const last = async () =>
    ((await (await apiAs("viewer", "GET", `/api/v1/schedules/${id}`)).json()) as Schemas["Schedule"]).lastRun;
  await expect.poll(async () => (await last())?.status, { timeout: 85_000, interval: 250 }).toBe(status);
  return (await last()) as Schemas["ScheduleRun"];
}

test("a schedule whose owner has left is paused, until an administrator takes it over", async () => {
  await ran(paused, "paused");
  const page = await visit(`/schedules/${paused.id}`);
  const table = page.getByRole("table", { name: "Runs" });
  await table.getByRole("row").filter({ hasText: "Paused" }).getByText("Its owner is disabled.").waitFor();
  const note = page.getByText("Its owner is disabled. No report is requested until", { exact: false });
  await note.waitFor();
  await page.getByRole("button", { name: "Take over" }).click();
  await page.getByRole("dialog").getByText("You become the owner in place of Lena Leaver.", { exact: false }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Take over" }).click();
  await note.waitFor({ state: "detached" });
  await table.getByRole("row").filter({ hasText: "Paused" }).waitFor(); // what was is not undone
  expect(await page.getByRole("button", { name: "Take over" }).count()).toBe(0);
  await page.goto(`/schedules/${paused.id}?page=9`);
  await page.getByText("There is 1 run in all.").waitFor();
  await page.getByRole("button", { name: "Go to the first page" }).click();
  await table.getByRole("row").filter({ hasText: "Paused" }).waitFor();
  await page.close(); // it would ask for what is not there any more
  expect((await apiAs("admin", "DELETE", `/api/v1/schedules/${paused.id}`)).status).toBe(204);
  expect((await apiAs("admin", "DELETE", `/api/v1/members/${leaver}`)).status).toBe(204);
}, 120_000);

test("a report that could not be requested is missed, says why, and is told", async () => {
  await ran(missed, "missed");
  const page = await visit("/schedules", { as: "auditor" });
  await row(page, missed.name).getByText("Missed").waitFor();
  await row(page, missed.name).getByRole("link", { name: missed.name }).click();
  const run = page.getByRole("table", { name: "Runs" }).getByRole("row").filter({ hasText: "Missed" });
  await run.getByText("Its instances or recipients can no longer be requested.").waitFor();
  await page.goto("/notifications/deliveries?eventType=schedule.missed");
  const told = row(page, missed.name);
  await told.getByText("Reports that fail or are missed").waitFor(); // a rule of the demo's
  await told.getByRole("link", { name: missed.name }).click();
  const event = page.getByRole("table", { name: "Events" });
  await event.getByText("Its instances or recipients can no longer be requested.").waitFor();
  await event.getByRole("link", { name: missed.name }).click();
  await page.waitForURL(`**/schedules/${missed.id}`);
  await page.close();
  expect((await apiAs("member", "DELETE", `/api/v1/schedules/${missed.id}`)).status).toBe(204);
}, 120_000);

test("a schedule runs by itself; from its run to the report, and to the very mail that was sent", async () => {
  const path = `/api/v1/schedules/${runs.id}`;
  const run = await ran(runs, "requested");
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
