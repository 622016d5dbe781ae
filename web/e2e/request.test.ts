// The catalog of reports, the previews, and the form that requests one.
import type { Page, Route } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, requestsTo, testLong, type Visit, violations, visit } from "./browser";
import { sideways } from "./pages";

let orders: Schemas["Instance"];
let billing: Schemas["Instance"];
let retired: Schemas["Instance"];
let members: Schemas["Member"][];
const nobody = "01a20057-0000-7000-8000-000000000000";

beforeAll(async () => {
  const instances = (
    (await (await apiAs("admin", "GET", "/api/v1/instances?pageSize=200")).json()) as Schemas["InstancePage"]
  ).items;
  const called = (name: string) => instances.find((i) => i.name === name) as Schemas["Instance"];
  orders = called("demo-pg-orders-01");
  billing = called("demo-pg-billing-01");
  retired = called("demo-pg-retired-01");
  members = ((await (await apiAs("admin", "GET", "/api/v1/members?pageSize=200")).json()) as Schemas["MemberPage"])
    .items;
});

/** eventually gives what is asked of the server and drawn the patience of a locator, on a busy machine, too. */
const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 15_000 });
const memberCalled = (name: string) => members.find((m) => m.name === name) as Schemas["Member"];
const field = (page: Page, name: string) => page.locator("input").and(page.getByLabel(name, { exact: true }));
const submit = (page: Page) => page.getByRole("button", { name: "Request report" });
const params = (page: Page) => new URL(page.url()).searchParams;
const chosen = (page: Page, group: string, name: string) =>
  page.getByRole("radiogroup", { name: group }).getByRole("radio", { name, exact: true });
/** What is clicked of a segmented control: its radios are invisible below their labels. */
const segment = (page: Page, name: string) => page.locator("label", { hasText: name });

/** search looks for servers of PostgreSQL, and waits until no option moves any more: until those of others are gone. */
async function search(page: Page, text: string) {
  await field(page, "Instance").fill(text);
  await page.getByRole("option").filter({ hasText: text }).first().waitFor();
  await eventually(() => page.getByRole("option", { name: /^demo-(mssql|ora)/ }).count()).toBe(0);
}

/** answering stubs the POST of a report. */
const answering =
  (answer: (route: Route, nth: number) => Promise<void>): Visit["before"] =>
  async (page) => {
    let nth = 0;
    await page.route("**/api/v1/reports", (route) =>
      route.request().method() === "POST" ? answer(route, ++nth) : route.continue(),
    );
  };
const refusing = (status: number, body: object, headers: Record<string, string> = {}) =>
  answering((route) =>
    route.fulfill({
      status,
      headers,
      contentType: "application/problem+json",
      body: JSON.stringify({ status, ...body }),
    }),
  );

test("27 Catalog truth", async () => {
  const page = await visit("/reports", { as: "member" });
  await page.getByRole("heading", { level: 1, name: "Reports" }).waitFor();
  await page.getByText("Beta", { exact: true }).waitFor();
  expect(await page.getByRole("heading", { level: 2 }).allTextContents()).toEqual([
    "Posture",
    "Security",
    "Compliance",
    "Performance",
    "Operations",
  ]);
  const facts = async (name: string) => {
    const card = page.getByRole("article", { name });
    const has = (text: string) => card.getByText(text, { exact: true }).count();
    return {
      details: await card.getByRole("definition").allTextContents(),
      formats: (await has("PDF")) * 1 + (await has("CSV")) * 10 + (await has("Email")) * 100,
      ribbon: await has("Preview — sample data"),
      links: await card
        .getByRole("link")
        .evaluateAll((all) => all.map((a) => `${a.textContent} ${a.getAttribute("href")}`)),
    };
  };
  const requested = (kind: string) => [`Request /reports/view?kind=${kind}`, `History /reports/history?kind=${kind}`];
  const pdf = 1;
  const csv = 10;
  const email = 100;
  expect(await facts("Per-Instance Scorecard")).toEqual({
    details: ["DBA lead, service owner", "Monthly or before a review"],
    formats: pdf + csv + email,
    ribbon: 0,
    links: requested("InstanceScorecard"),
  });
  expect(await facts("Security Report")).toEqual({
    details: ["CISO, DBA lead", "Monthly or after an advisory"],
    formats: pdf + csv + email,
    ribbon: 0,
    links: requested("Security"),
  });
  expect(await facts("Data Inventory")).toEqual({
    details: ["DPO, auditor", "Quarterly"],
    formats: pdf + csv + email,
    ribbon: 0,
    links: requested("DataInventory"),
  });
  expect(await facts("Alerts Summary")).toEqual({
    details: ["On-call lead", "Weekly or monthly"],
    formats: pdf + csv + email,
    ribbon: 0,
    links: [
      "Request /reports/view?kind=AlertsSummary",
      "Open /reports/preview/alerts-summary",
      "History /reports/history?kind=AlertsSummary",
    ],
  });
  expect(await facts("Performance & SLA Summary")).toEqual({
    details: ["Service owner", "Monthly"],
    formats: pdf + csv + email,
    ribbon: 0,
    links: [
      "Request /reports/view?kind=PerformanceSla",
      "Open /reports/preview/performance-sla",
      "History /reports/history?kind=PerformanceSla",
    ],
  });
  expect(await facts("Daily Operations Digest")).toEqual({
    details: ["Operations", "Daily"],
    formats: pdf + email,
    ribbon: 0,
    links: [
      "Request /reports/view?kind=DailyDigest",
      "Open /reports/preview/daily-digest",
      "History /reports/history?kind=DailyDigest",
    ],
  });
  expect(await page.getByRole("article").count()).toBe(6);
});

test("27 the category is in the address, and who may not request sees no Request", async () => {
  const page = await visit("/reports?category=Operations", { as: "auditor" });
  await page.getByRole("heading", { level: 2, name: "Operations" }).waitFor();
  expect(await page.getByRole("article").count()).toBe(2);
  await page.getByText("Security", { exact: true }).click();
  await page.getByRole("article", { name: "Security Report" }).waitFor();
  expect(params(page).get("category")).toBe("Security");
  expect(await page.getByRole("link", { name: /^Request/ }).count()).toBe(0);
  await page.getByRole("link", { name: "History of Security Report" }).waitFor();
  await page.getByText("All", { exact: true }).click();
  await eventually(() => page.getByRole("article").count()).toBe(6);
  expect(params(page).has("category")).toBe(false);
});

testLong("27 with the catalog of the specification, previews are samples and ask the server for nothing", async () => {
  const page = await visit("/reports", {
    before: (page) =>
      page.route("**/api/v1/session", async (route) => {
        const session = (await (await route.fetch()).json()) as { organization: object };
        await route.fulfill({
          json: { ...session, organization: { ...session.organization, catalog: "specification" } },
        });
      }),
  });
  const asked = requestsTo(page, "/api/v1/reports");
  for (const name of ["Performance & SLA Summary", "Alerts Summary", "Daily Operations Digest"]) {
    await page.getByRole("link", { name: `Open ${name}` }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByText("Preview — sample data").waitFor();
    await page.mouse.wheel(0, 5_000);
    expect(
      await page.getByText("Preview — sample data").evaluate((e) => e.getBoundingClientRect().top),
    ).toBeGreaterThan(0);
    expect(await page.getByRole("link", { name: /^Request/ }).count()).toBe(0);
    await page.getByRole("link", { name: "Back to the catalog" }).click();
    await page.getByRole("heading", { level: 1, name: "Reports" }).waitFor();
  }
  expect(asked.map(String)).toEqual([]);
});

test("27 a preview that is not there says so", async () => {
  const page = await visit("/reports");
  await page.goto("/reports/preview/quarterly-astrology");
  await page.getByText("404: there is no preview “quarterly-astrology”").waitFor();
});

test("27 Open shows the digest of the past day, in the words of its mail", async () => {
  const page = await visit("/reports/preview/daily-digest");
  await page.getByRole("heading", { level: 2, name: "Were the instruments alive?" }).waitFor();
  await page.getByRole("table", { name: "Servers by trouble" }).waitFor();
  await page.getByText("only what was heard counts as quiet").waitFor();
  expect(await page.getByRole("radio").count()).toBe(0);
});

test("27 Open shows a summary with the figures of now", async () => {
  const page = await visit("/reports/preview/alerts-summary");
  await page.getByRole("heading", { level: 1, name: "Alerts Summary" }).waitFor();
  const balance = page.getByRole("table", { name: "Balance by severity" });
  await balance.waitFor();
  const all = await balance.getByRole("row").last().getByRole("cell").allTextContents();
  const [start, raised, resolved, end] = all.slice(1).map((text) => Number(text.replace(/[^0-9]/g, "")));
  expect((start ?? 0) + (raised ?? 0) - (resolved ?? 0)).toBe(end);
  expect(await page.getByText("Preview — sample data").count()).toBe(0);
  await page.getByRole("link", { name: "Request as PDF" }).click();
  expect(params(page).get("kind")).toBe("AlertsSummary");
});

test("27 a preview is about the servers of its filter, and so is the report that it offers", async () => {
  const scopes: Schemas["CreateReport"]["scope"][] = [];
  const page = await visit("/reports/preview/alerts-summary?tag=env:prod", {
    before: async (page) => {
      page.on("request", (asked) => {
        if (asked.url().endsWith("/api/v1/reports/preview")) scopes.push(asked.postDataJSON().scope);
      });
    },
  });
  await page
    .getByText(/^env:prod/)
    .first()
    .waitFor();
  await page.getByRole("table", { name: "Balance by severity" }).waitFor();
  expect(scopes.at(-1)).toMatchObject({ instanceIds: [], tags: { env: ["prod"] } });
  const link = await page.getByRole("link", { name: "Request as PDF" }).getAttribute("href");
  expect(link).toContain("tag=env:prod");
  await page.goto(`/reports/preview/daily-digest?instanceId=${orders.id}`);
  const article = page.getByRole("article", { name: "Daily Operations Digest" });
  await article
    .getByText(/^demo-pg-orders-01/)
    .first()
    .waitFor();
  expect(scopes.at(-1)).toMatchObject({ instanceIds: [orders.id] });
  await page.getByRole("button", { name: /^Instances: demo-pg-orders-01/ }).click();
  await page.getByRole("option", { name: /demo-pg-billing-01/ }).click();
  await eventually(() => params(page).getAll("instanceId").sort()).toEqual([orders.id, billing.id].sort());
  await eventually(() => scopes.at(-1)?.instanceIds?.length).toBe(2);
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page)).toBe(false);
  await page.goto("/reports/preview/daily-digest?instanceId=x");
  await page.getByText("The filter names no server.").waitFor();
});

test("27 Open shows up, down and unknown of the past days, and what that means for objectives", async () => {
  const page = await visit("/reports/preview/performance-sla");
  await page.getByRole("heading", { level: 1, name: "Performance & SLA Summary" }).waitFor();
  const table = page.getByRole("table", { name: "Availability against the objective" });
  const row = table.getByRole("row", { name: /demo-pg-orders-01.*1 h 37 min.*missed/ });
  await page.getByText("Past 30 days", { exact: true }).click();
  // A window ends with a whole minute, and the demo may be younger than that: then no server was there yet.
  const nobody = page.getByText("No server was in scope in this window, so there is nothing to judge.");
  await row.or(nobody).first().waitFor();
  expect(await page.getByText("Preview — sample data").count()).toBe(0);
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page)).toBe(false);
});

test("28 Pre-filled form from URL", async () => {
  const ana = memberCalled("Ana Ruiz");
  const page = await visit(
    `/reports/view?kind=InstanceScorecard&instanceId=${orders.id}&range=7d&recipientId=${ana.id}`,
    { as: "member", fresh: true },
  );
  await eventually(() => field(page, "Instance").inputValue()).toBe(orders.name);
  expect(await chosen(page, "Report", "Scorecard").isChecked()).toBe(true);
  expect(await chosen(page, "Date range", "Past 7 days").isChecked()).toBe(true);
  await page.getByText("2 of 20").waitFor();

  await segment(page, "Past 30 days").click();
  await eventually(() => params(page).get("range")).toBe("30d");
  await search(page, "billing");
  await page.getByRole("option", { name: billing.name }).click();
  await eventually(() => params(page).getAll("instanceId")).toEqual([billing.id]);
  await field(page, "Database").click();
  await page.getByRole("option").first().click();
  await eventually(() => params(page).get("databaseId")).toBeTruthy();
  const database = await field(page, "Database").inputValue();
  await segment(page, "Custom range").click();
  await field(page, "From (UTC)").fill("2025-10-01T06:30");
  await field(page, "To (UTC)").fill("2025-10-20T18:00");
  await eventually(() => params(page).get("to")).toBe("2025-10-20T18:00:00.000Z");
  expect(params(page).get("from")).toBe("2025-10-01T06:30:00.000Z");
  expect(params(page).has("range")).toBe(false);
  expect(await page.evaluate(() => history.length)).toBeLessThan(4);

  const shared = await visit(page.url(), { as: "admin", timezoneId: "America/New_York" });
  await eventually(() => field(shared, "Instance").inputValue()).toBe(billing.name);
  await eventually(() => field(shared, "Database").inputValue()).toBe(database);
  expect(await chosen(shared, "Date range", "Custom range").isChecked()).toBe(true);
  expect(await field(shared, "From (UTC)").inputValue()).toBe("2025-10-01T06:30");
  expect(await field(shared, "To (UTC)").inputValue()).toBe("2025-10-20T18:00");
  await shared.getByText("Ana Ruiz").waitFor();
});

test("28 servers that nobody knows are shown as such", async () => {
  const page = await visit(
    `/reports/view?kind=Security&instanceId=${orders.id}&instanceId=${nobody}&instanceId=${retired.id}`,
    {
      as: "member",
      expected: [/422/],
    },
  );
  await page.getByText(orders.name).waitFor();
  await page.getByText("Unknown instance 01a20057…").waitFor();
  await page.getByText(`${retired.name} (inactive)`).waitFor();
  await submit(page).click();
  await page.getByText("Unknown instance.", { exact: true }).waitFor();
  expect(await field(page, "Selected instances").getAttribute("aria-invalid")).toBe("true");
  await eventually(() => field(page, "Selected instances").evaluate((e) => e === document.activeElement)).toBe(true);
});

testLong("29 Validation before and after submit", async () => {
  const problem = {
    code: "report_range_too_wide",
    detail: "refused",
    errors: [
      {
        in: "body",
        pointer: "#/recipientIds/0",
        code: "recipient_not_member",
        detail: "not a member who can receive reports",
      },
      { in: "body", pointer: "#/scope/to", code: "range_too_wide", detail: "must be at most 31 days after from" },
    ],
  };
  const page = await visit(`/reports/view?instanceId=${orders.id}&from=2025-10-01T00:00:00Z&to=2025-11-02T00:00:00Z`, {
    as: "member",
    expected: [/422/],
    before: refusing(422, problem),
  });
  await page.getByText("This report covers at most 31 days; this is 32 days.").waitFor();
  const to = field(page, "To (UTC)");
  expect(await to.getAttribute("aria-invalid")).toBe("true");
  expect(await submit(page).isDisabled()).toBe(true);

  await to.fill("2025-11-01T00:01");
  await page.getByText("this is 31 days and 1 min").waitFor();
  await to.fill("2025-09-30T00:00");
  await page.getByText("To must be after From.").waitFor();
  await to.fill("2126-11-01T00:00");
  await page.getByText("To is in the future. Choose now or earlier.").waitFor();
  expect(await submit(page).isDisabled()).toBe(true);
  await to.fill("2025-11-01T00:00");
  await eventually(() => submit(page).isEnabled()).toBe(true);

  await submit(page).click();
  await page.getByText("Must be at most 31 days after from.").waitFor();
  await page.getByText("Not a member who can receive reports.").waitFor();
  await eventually(() => to.evaluate((e) => e === document.activeElement)).toBe(true);
  expect(await to.getAttribute("aria-invalid")).toBe("true");
  const described = (await to.getAttribute("aria-describedby")) ?? "";
  const said = await Promise.all(described.split(" ").map((id) => page.locator(`[id="${id}"]`).textContent()));
  expect(said.join()).toContain("Must be at most 31 days after from.");

  await to.fill("2025-10-30T00:00");
  await eventually(() => page.getByText("Must be at most 31 days after from.").count()).toBe(0);
  expect(await page.getByText("Not a member who can receive reports.").count()).toBe(1);
  expect(await to.evaluate((e) => e === document.activeElement)).toBe(true);
});

test("29 what belongs to no field is said with when to ask again", async () => {
  const page = await visit("/reports/view?kind=Security", {
    as: "member",
    expected: [/429/],
    before: refusing(
      429,
      { code: "too_many_building", detail: "10 reports are being built.", requestId: "01TEST" },
      { "Retry-After": "90" },
    ),
  });
  await submit(page).click();
  const note = page.getByRole("alert");
  await note.getByText("10 reports are being built.").waitFor();
  await note.getByText("Try again in 1 min 30 s.").waitFor();
  await note.getByText("01TEST").waitFor();
});

testLong("30 Recipients", async () => {
  const me = memberCalled("Mia Member");
  const crowd = Array.from({ length: 25 }, (_, i) => ({
    id: `01a20057-0000-7000-8000-0000000001${String(i).padStart(2, "0")}`,
    name: `Colleague ${String(i).padStart(2, "0")}`,
    email: `colleague-${i}@demo.example`,
    role: "viewer",
    status: ["active", "invited", "active"][i % 3],
    lastSignInAt: null,
  }));
  const addressed = (all: { id: string }[]) => all.map((m) => `recipientId=${m.id}`).join("&");
  const gone = { ...crowd[0], id: nobody, name: "Colleague Gone", status: "disabled" };
  const everybody = [me, gone, ...crowd];
  const page = await visit("/reports/view?kind=Security", {
    as: "member",
    before: (p) =>
      p.route("**/api/v1/members?**", (route) => {
        const q = new URL(route.request().url()).searchParams.get("q") ?? "";
        const items = everybody.filter((m) => m.name?.toLowerCase().includes(q.toLowerCase()));
        return route.fulfill({
          json: { items, page: { number: 1, size: 200, totalItems: items.length, totalPages: 1 } },
        });
      }),
  });
  const box = field(page, "Recipients");
  await page.getByText("Mia Member (you)").waitFor();
  await page.getByText("1 of 20").waitFor();
  expect(await page.getByRole("button", { name: /Remove Mia/, includeHidden: true }).count()).toBe(0);
  await box.press("Backspace");
  await page.getByText("Mia Member (you)").waitFor();

  await box.fill("Colleague");
  await page.getByRole("option", { name: /Colleague 00/ }).waitFor();
  expect(await page.getByRole("option", { name: /Gone/ }).count()).toBe(0);
  expect(await page.getByRole("option", { name: /Mia/ }).count()).toBe(0);
  await page.getByRole("option", { name: /Colleague 00/ }).click();
  await page.getByRole("option", { name: /Colleague 01/ }).click();
  await page.getByText("3 of 20").waitFor();
  await page.getByText("the e-mail to 3 people is kept in the outbox").waitFor();
  expect(params(page).getAll("recipientId")).toEqual([crowd[0]?.id, crowd[1]?.id]);

  await page.goto(`/reports/view?kind=Security&${addressed(crowd.slice(0, 18))}`);
  await page.getByText("19 of 20").waitFor();
  await box.fill("Colleague");
  await page.getByRole("option", { name: /Colleague 18/ }).click();
  await page.getByText("20 of 20. Remove someone to add another.").waitFor();
  await page.getByRole("option", { name: /Colleague 19/ }).click({ force: true });
  expect(await page.getByText("20 of 20").count()).toBe(1);
  expect(params(page).getAll("recipientId")).toHaveLength(19);
  expect(await submit(page).isEnabled()).toBe(true);
  await page.keyboard.press("Escape");
  await box.press("Backspace");
  await page.getByText("19 of 20").waitFor();

  await page.goto(`/reports/view?kind=Security&${addressed(crowd.slice(0, 20))}`);
  await page.getByText("You chose 21 recipients including yourself; a report can have at most 20.").waitFor();
  expect(await submit(page).isDisabled()).toBe(true);
});

test("31 Create → history", async () => {
  const people = ["Ana Ruiz", "Mei Tanaka"].map((name) => `recipientId=${memberCalled(name).id}`).join("&");
  const page = await visit(`/reports/history?kind=InstanceScorecard`, { as: "member" });
  await page.goto(`/reports/view?kind=InstanceScorecard&instanceId=${orders.id}&range=7d&${people}`);
  await eventually(() => field(page, "Instance").inputValue()).toBe(orders.name);
  const sent: (string | null)[] = [];
  page.on("request", (r) => {
    if (r.method() === "POST" && r.url().endsWith("/api/v1/reports")) sent.push(r.headers()["idempotency-key"] ?? null);
  });
  const answer = page.waitForResponse((r) => r.request().method() === "POST" && r.url().endsWith("/api/v1/reports"));
  // Two clicks before the page can be drawn in between, as a fast double click is.
  await submit(page).evaluate((button: HTMLButtonElement) => {
    button.click();
    button.click();
  });
  expect((await answer).status()).toBe(202);
  const { report } = (await (await answer).json()) as Schemas["RequestedReport"];
  await page.getByText("Queued. No mail server is set: the e-mail is kept in the outbox").waitFor();
  await page.waitForURL(
    (url) => url.pathname === "/reports/history" && url.searchParams.get("kind") === "InstanceScorecard",
  );
  await page.locator(`tr[data-report="${report.id}"]`, { hasText: report.scopeLabel }).waitFor();
  expect(sent).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
});

// The first waits behind others, so that it is not finished before the second request of it arrives.
test("31 200 reused → dialog “Already being built”", async () => {
  let first: Schemas["RequestedReport"] | undefined;
  const { items } = (await (
    await apiAs("admin", "GET", "/api/v1/instances?pageSize=200")
  ).json()) as Schemas["InstancePage"];
  const others = items.filter((i) => i.active && i.id !== orders.id && i.id !== billing.id).slice(0, 8);
  const page = await visit(`/reports/view?kind=Security&instanceId=${orders.id}&instanceId=${billing.id}`, {
    as: "member",
    before: answering(async (route) => {
      const ask = (body: unknown) => apiAs("admin", "POST", "/api/v1/reports", body);
      const queued = others.map((other) => ask({ kind: "Security", scope: { instanceIds: [other.id] } }));
      await queued[0];
      const answer = await ask(route.request().postDataJSON());
      // Sent from here: the way back through the browser took longer than all the builds once.
      const [response] = await Promise.all([route.fetch(), ...queued]);
      first = (await answer.json()) as Schemas["RequestedReport"];
      await route.fulfill({ response });
    }),
  });
  await page.getByText(billing.name).waitFor();
  const answer = page.waitForResponse((r) => r.request().method() === "POST" && r.url().endsWith("/api/v1/reports"));
  await submit(page).click();
  expect((await answer).status()).toBe(200);
  const dialog = page.getByRole("dialog", { name: "Already being built" });
  await dialog.getByText(first?.report.scopeLabel ?? "no report").waitFor();
  await dialog.getByText(`${first?.report.requester.name} already requested the same report`).waitFor();
  await dialog.getByText("The link goes to 2 people.").waitFor();
  await dialog.getByRole("link", { name: "Show in history" }).click();
  await page.waitForURL(`**/reports/history?kind=Security#${first?.report.id}`);
  await page.getByRole("row").filter({ hasText: first?.report.scopeLabel }).first().waitFor();
});

testLong("31 who could not be added to a reused report is named", async () => {
  const list = (await (await apiAs("member", "GET", "/api/v1/reports?kind=Security")).json()) as Schemas["ReportPage"];
  const report = { ...(list.items[0] as Schemas["Report"]), status: "Building", recipientCount: 20 };
  const left = memberCalled("Jonas Weber");
  const page = await visit(`/reports/view?kind=Security&recipientId=${left.id}`, {
    as: "member",
    before: answering((route) =>
      route.fulfill({ status: 200, json: { reused: true, recipientsNotAdded: [left.id], report } }),
    ),
  });
  await page.getByText("Jonas Weber").waitFor();
  await submit(page).click();
  const dialog = page.getByRole("dialog", { name: "Already being built" });
  await dialog.getByText(/Not added.*: Jonas Weber\./).waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(new URL(page.url()).pathname).toBe("/reports/view");
});

test("31 a request without an answer is sent again as the same", async () => {
  const sent: string[] = [];
  const page = await visit(`/reports/view?instanceId=${orders.id}`, {
    as: "member",
    expected: [/ERR_/, /503/],
    before: answering((route, nth) => {
      const request = route.request();
      sent.push(`${request.headers()["idempotency-key"]} ${request.postData()}`);
      return nth === 1 ? route.abort() : route.fulfill({ status: 503, json: { detail: "Busy." } });
    }),
  });
  await submit(page).click();
  await page.getByText("The server did not answer.").waitFor();
  await submit(page).click();
  await page.getByText("Busy.").waitFor();
  await segment(page, "Past 7 days").click();
  await submit(page).click();
  await eventually(() => sent.length).toBe(3);
  expect(sent[1]).toBe(sent[0]);
  expect(sent[2]?.slice(0, 32)).not.toBe(sent[0]?.slice(0, 32));
});

testLong("32 Unsupported parts are absent", async () => {
  for (const kind of ["Security", "DataInventory"]) {
    const page = await visit(`/reports/view?kind=${kind}&range=7d`, { as: "member" });
    await page.getByText("This report does not use range; removed from the address.").waitFor();
    await eventually(() => params(page).has("range")).toBe(false);
    expect(await page.locator("input[type=datetime-local], [aria-labelledby=request-range]").count()).toBe(0);
    expect(await page.getByText(/Date range|Past 7 days|Past 30 days|Custom range/).count()).toBe(0);
    expect(await field(page, "Database").count()).toBe(0);
    await page
      .getByText(kind === "Security" ? "All active instances" : "All instances in the organization", { exact: true })
      .waitFor();
    await page.getByText("Selected instances, up to 100").click();
    await page.getByText("Choose at least one instance, or all of them.").waitFor();
    expect(await submit(page).isDisabled()).toBe(true);
    await field(page, "Selected instances").click();
    await page.getByRole("option", { name: orders.name }).click();
    await page.getByRole("option", { name: billing.name }).click();
    await page.getByText("2 of at most 100").waitFor();
    expect(params(page).getAll("instanceId")).toEqual([orders.id, billing.id]);
  }
});

test("32 a scorecard allows exactly one instance, of the active ones", async () => {
  const page = await visit(`/reports/view?instanceId=${orders.id}&instanceId=${billing.id}`, { as: "member" });
  await page.getByText("The address contains 2 instances. This report covers one: choose it.").waitFor();
  expect(await submit(page).isDisabled()).toBe(true);
  const server = field(page, "Instance");
  expect(await server.inputValue()).toBe("");
  await search(page, "demo-pg");
  await page.getByRole("option", { name: billing.name }).waitFor();
  expect(await page.getByRole("option", { name: retired.name }).count()).toBe(0);
  await page.getByRole("option", { name: billing.name }).click();
  await eventually(() => params(page).getAll("instanceId")).toEqual([billing.id]);
  await search(page, "orders-01");
  await page.getByRole("option", { name: orders.name }).click();
  await eventually(() => params(page).getAll("instanceId")).toEqual([orders.id]);
  expect(await submit(page).isEnabled()).toBe(true);
});

test("38 a viewer is told why the form is not for them", async () => {
  const page = await visit("/reports/view?kind=Security", { as: "viewer" });
  await page.getByText("403: your role does not include this page").waitFor();
  expect(await submit(page).count()).toBe(0);
});

test("40 form without a violation, of a scorecard", async () => {
  const page = await visit(`/reports/view?instanceId=${orders.id}&from=2025-10-01T00:00:00Z&to=2025-11-02T00:00:00Z`, {
    as: "member",
  });
  await page.getByText("this is 32 days").waitFor();
  await eventually(() => field(page, "Instance").inputValue()).toBe(orders.name);
  expect(await violations(page)).toEqual([]);
});

test("40 form without a violation, of several servers", async () => {
  const page = await visit(`/reports/view?kind=Security&range=7d&instanceId=${orders.id}&instanceId=${nobody}`, {
    as: "member",
  });
  await page.getByText("Unknown instance").waitFor();
  await field(page, "Recipients").click();
  await page.getByRole("option", { name: /Ana Ruiz/ }).waitFor();
  expect(await violations(page)).toEqual([]);
});
