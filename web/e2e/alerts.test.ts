// The alerts explorer and one alert: checklist 7, 12, 25, 26.
import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { apiAs, readable, requestsTo, serverUrl, testLong, violations, visit } from "./browser";
import { sideways } from "./pages";

type Alert = { id: string; title: string; instance: { id: string; name: string } | null };
type AlertPage = { items: Alert[]; page: { totalItems: number } };

const read = async <T>(path: string): Promise<T> => (await apiAs("viewer", "GET", path)).json() as Promise<T>;
const alerts = (query: string) => read<AlertPage>(`/api/v1/alerts?${query}`);

/** eventually waits for what a page does in its own time, longer than the second that is Vitest's default. */
const eventually = <T>(seen: () => T | Promise<T>) => expect.poll(seen, { timeout: 15_000 });

/** total is how many alerts the page says it lists: "1–20 of 57 alerts", "1 alert", or that none matches. */
async function total(page: Page): Promise<number> {
  const text = await page
    .getByText(/^(([\d,]+–[\d,]+ of )?[\d,]+ alerts?|No alert matches)$/)
    .last()
    .textContent();
  if (text === "No alert matches") return 0;
  return Number(text?.replace(/^(?:.* of )?([\d,]+) alerts?$/, "$1").replaceAll(",", ""));
}

/** lists is the queries of the requests for the list, and for nothing below it. */
const lists = (asked: URL[]) => asked.filter((url) => url.pathname === "/api/v1/alerts").map((url) => url.searchParams);

/** busiest is the instance with most resolved alerts of the last 30 days, which has pages to turn. */
async function busiest(): Promise<string> {
  const { items } = await alerts("status=resolved&pageSize=100");
  const counts = new Map<string, number>();
  for (const { instance } of items) if (instance) counts.set(instance.id, (counts.get(instance.id) ?? 0) + 1);
  const [first] = [...counts].sort((a, b) => b[1] - a[1]);
  return (first as [string, number])[0];
}

test("12 KPI click-through keeps scope: the list's total is the KPI's number", async () => {
  const open = await alerts("status=open&muted=exclude&pageSize=100");
  const instance = open.items.find((alert) => alert.instance)?.instance?.id as string;
  for (const scope of ["", `instanceId=${instance}`]) {
    const page = await visit(`/alerts?status=open&muted=exclude&${scope}`);
    await page.getByRole("button", { name: "Time: Any time" }).waitFor();
    let listed = -1;
    // Alerts come and go while this runs, be it the only one of an instance: all three are read until they were read
    // at the same state.
    await expect
      .poll(
        async () => {
          const [answer] = await Promise.all([
            page.waitForResponse((r) => new URL(r.url()).pathname === "/api/v1/alerts"),
            page.getByRole("button", { name: "Refresh" }).click(),
          ]);
          const query = new URL(answer.url()).searchParams;
          expect(query.get("status")).toBe("open");
          expect(query.get("muted")).toBe("exclude");
          expect(query.has("from")).toBe(false);
          expect(query.getAll("instanceId")).toEqual(scope ? [instance] : []);
          listed = ((await answer.json()) as AlertPage).page.totalItems;
          const kpi = await read<{ alerts: { current: number } }>(`/api/v1/health-checks/overview?${scope}`);
          return [kpi.alerts.current - listed, (await total(page)) - listed];
        },
        { timeout: 20_000 },
      )
      .toEqual([0, 0]);
    if (scope) expect(listed).toBeLessThan(open.page.totalItems);
    else expect(listed).toBeGreaterThan(0);
  }
});

test("25 view keeps window and scope, and 7 Back gives the same filter and page", async () => {
  const instance = await busiest();
  const page = await visit(`/alerts?range=30d&instanceId=${instance}&status=resolved&pageSize=2&page=2`);
  const links = page.locator("[data-alert] a[href^='/alerts/']");
  await links.first().waitFor();
  for (const link of await links.all()) {
    const href = new URL((await link.getAttribute("href")) as string, serverUrl);
    expect(href.searchParams.get("range")).toBe("30d");
    expect(href.searchParams.getAll("instanceId")).toEqual([instance]);
    expect([...href.searchParams.keys()]).toEqual(["range", "instanceId"]);
  }
  const address = page.url();
  const rows = () => page.locator("[data-alert]").evaluateAll((r) => r.map((row) => row.getAttribute("data-alert")));
  const shown = await rows();
  await links.first().click();
  await page.waitForURL(/\/alerts\/[0-9a-f-]{36}\?range=30d/);
  await page.getByRole("heading", { name: "History", exact: true }).waitFor();
  await page.goBack();
  await eventually(rows).toEqual(shown);
  expect(page.url()).toBe(address);

  await links.last().click();
  await page.getByRole("heading", { name: "History", exact: true }).waitFor();
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Alerts" }).click();
  await eventually(rows).toEqual(shown);
  expect([...new URL(page.url()).searchParams].sort()).toEqual([...new URL(address).searchParams].sort());
});

const made = (changes: Record<string, unknown>) => ({
  id: crypto.randomUUID(),
  title: "Lock waits above 5 sessions",
  severity: "critical",
  state: "Open",
  open: true,
  isMuted: false,
  createdAt: "2026-11-20T09:02:10Z",
  firstTriggeredAt: "2026-11-20T09:02:10Z",
  lastTriggeredAt: "2026-11-20T10:41:00Z",
  resolvedAt: null,
  occurrences: 14,
  instance: { id: crypto.randomUUID(), name: "demo-pg-orders-01" },
  database: { id: crypto.randomUUID(), name: "orders" },
  ...changes,
});

const answering = (items: unknown[]) => (page: Page) =>
  page.route("**/api/v1/alerts?*", (route: Route) =>
    route.fulfill({ json: { items, page: { number: 1, size: 20, totalItems: items.length, totalPages: 1 } } }),
  );

test("26 state and severity are text and icon, resolved rows show duration, times their zone", async () => {
  const before = answering([
    made({ title: "fires" }),
    made({
      title: "over",
      severity: "warning",
      state: "AutoResolved",
      open: false,
      resolvedAt: "2026-11-20T10:46:00Z",
    }),
    made({ title: "silenced", severity: "info", isMuted: true }),
    made({ title: "strange", state: "Suppressed", instance: null, database: null }),
  ]);
  const page = await visit("/alerts", { before });
  const row = (title: string) => page.getByRole("row", { name: title });
  const badge = (title: string, text: string) => row(title).getByText(text, { exact: true });
  for (const [title, text] of [
    ["fires", "Critical"],
    ["fires", "Open"],
    ["over", "Warning"],
    ["over", "Auto-resolved"],
    ["silenced", "Info"],
    ["silenced", "Muted"],
    ["strange", "Suppressed"],
  ] as const) {
    await badge(title, text).locator("svg").waitFor();
  }
  expect(await badge("fires", "Muted").count()).toBe(0);
  await row("over").getByText("1 h 43 min", { exact: true }).waitFor();
  await row("fires")
    .getByText(/ so far$/)
    .waitFor();
  await row("strange").getByText("Whole organization").waitFor();
  await row("fires").getByText("demo-pg-orders-01 · orders").waitFor();
  await row("over").getByRole("time").last().hover();
  const tooltip = page.getByRole("tooltip", { name: /20 Nov 2026, 10:41:00 UTC/ });
  await tooltip.waitFor();
  await page.mouse.move(0, 0);
  await tooltip.waitFor({ state: "detached" });
});

test("filters live in the address and survive a reload", async () => {
  const page = await visit("/alerts?page=2");
  await total(page);
  await page.getByText("Resolved", { exact: true }).first().click();
  await page.waitForURL(/status=resolved/);
  await page.getByText("Critical", { exact: true }).first().click();
  await page.waitForURL(/severity=critical/);
  await page.getByText("Warning", { exact: true }).first().click();
  await page.waitForURL(/severity=warning/);
  await page.getByLabel("Muted alerts").selectOption("exclude");
  await page.waitForURL(/muted=exclude/);
  await page.getByLabel("Alerts per page").selectOption("50");
  await page.waitForURL(/pageSize=50/);
  expect(page.url(), "a changed filter begins at page 1").not.toMatch(/[?&]page=/);

  const asked = requestsTo(page, "/api/v1/alerts");
  await page.reload();
  const expected = (await alerts("status=resolved&severity=critical&severity=warning&muted=exclude")).page.totalItems;
  expect(await total(page)).toBe(expected);
  const query = lists(asked)[0];
  expect(query?.get("status")).toBe("resolved");
  expect(query?.getAll("severity").sort()).toEqual(["critical", "warning"]);
  expect(query?.get("muted")).toBe("exclude");
  expect(query?.get("pageSize")).toBe("50");
  expect(await page.getByRole("radio", { name: "Resolved" }).isChecked()).toBe(true);
  expect(await page.getByRole("checkbox", { name: "Critical" }).isChecked()).toBe(true);
  expect(await page.getByRole("checkbox", { name: "Info" }).isChecked()).toBe(false);

  await page.getByRole("button", { name: "Clear filters" }).click();
  await eventually(() => new URL(page.url()).search).toBe("?pageSize=50");
  await page.goBack();
  await page.waitForURL(/status=resolved/);
});

test("the search is written into the address once, without a place of its own in the history", async () => {
  const page = await visit("/alerts?status=resolved");
  await total(page);
  const asked = requestsTo(page, "/api/v1/alerts");
  const places = await page.evaluate(() => history.length);
  // No time passes between the letters, however busy the machine is.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 10_000);
  await page.locator("[data-search]").pressSequentially("backup");
  await page.clock.resume();
  await page.waitForURL(/q=backup/);
  await eventually(() => total(page)).toBe((await alerts("status=resolved&q=backup")).page.totalItems);
  expect(lists(asked).map((query) => query.get("q"))).toEqual(["backup"]);
  expect(await page.evaluate(() => history.length)).toBe(places);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await eventually(() => page.locator("[data-search]").inputValue()).toBe("");
  await page.goBack();
  await eventually(() => page.locator("[data-search]").inputValue()).toBe("backup");
});

testLong("a column's heading orders the list", async () => {
  const page = await visit("/alerts");
  const heading = page.getByRole("columnheader", { name: "Severity" });
  await heading.waitFor();
  const last = page.getByRole("columnheader", { name: "Last triggered" });
  expect(await last.getAttribute("aria-sort")).toBe("descending");
  const asked = requestsTo(page, "/api/v1/alerts");
  await heading.getByRole("button").click();
  await page.waitForURL(/sort=-severity/);
  await eventually(() => heading.getAttribute("aria-sort")).toBe("descending");
  await heading.getByRole("button").click();
  await page.waitForURL(/sort=severity/);
  await eventually(() => heading.getAttribute("aria-sort")).toBe("ascending");
  expect(await last.getAttribute("aria-sort")).toBe("none");
  await eventually(() => lists(asked).map((query) => query.get("sort"))).toEqual(["-severity", "severity"]);
});

testLong("a missing range is no window, a preset a beginning, a custom one both ends", async () => {
  const page = await visit("about:blank");
  const asked = requestsTo(page, "/api/v1/alerts");
  await page.goto("/alerts?range=7d");
  await page.getByText("Last triggered in the last 7 days").waitFor();
  // While pages are served by Vite, React mounts them twice, and a first request is given up.
  const latest = () => lists(asked).at(-1);
  await eventually(() => latest()?.has("from")).toBe(true);
  const age = Date.now() - Date.parse(latest()?.get("from") ?? "");
  expect(Math.abs(age - 7 * 86_400_000)).toBeLessThan(60_000);
  expect(latest()?.has("to")).toBe(false);

  await page.getByRole("button", { name: "Show alerts from any time" }).click();
  await page.getByRole("button", { name: "Time: Any time" }).waitFor();
  await eventually(() => new URL(page.url()).search).toBe("");
  await eventually(() => latest()?.has("from")).toBe(false);

  await page.goto("/alerts?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z");
  await page.getByText(/^Last triggered from 1 Nov 2026, 00:00:00 UTC to 2 Nov/).waitFor();
  await eventually(() => latest()?.get("from")).toBe("2026-11-01T00:00:00.000Z");
  expect(latest()?.get("to")).toBe("2026-11-02T00:00:00.000Z");
});

testLong("Refresh reads the list anew, also without a window", async () => {
  const page = await visit("/alerts");
  await total(page);
  const asked = requestsTo(page, "/api/v1/alerts");
  await page.getByRole("button", { name: "Refresh" }).click();
  await eventually(() => lists(asked).length).toBe(1);
});

testLong("a filter that names no instance shows nothing and asks nothing", async () => {
  const page = await visit("about:blank");
  const asked = requestsTo(page, "/api/v1/alerts");
  await page.goto("/alerts?instanceId=");
  await page.getByText("No alert matches").waitFor();
  expect(lists(asked)).toEqual([]);
});

testLong("an empty list says why: nothing matches, or past the end", async () => {
  const page = await visit("/alerts?q=no%20alert%20has%20this%20title&status=open");
  await page.getByText("No alert matches").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).last().click();
  await page.getByRole("table").waitFor();
  await page.goto("/alerts?page=9999");
  await page.getByRole("button", { name: "Go to the first page" }).click();
  await page.getByRole("table").waitFor();
});

testLong("where there are no alerts yet, an administrator is told how to send them", async () => {
  const admin = await visit("/alerts", { before: answering([]) });
  await admin.getByText("No alerts yet").waitFor();
  await admin.getByRole("link", { name: "How to send alerts" }).waitFor();
  const viewer = await visit("/alerts", { as: "viewer", before: answering([]) });
  await viewer.getByText("No alerts yet").waitFor();
  expect(await viewer.getByRole("link", { name: "How to send alerts" }).count()).toBe(0);
});

test("a list that fails says so and can be asked again; a slow one keeps what there is", async () => {
  let fail = true;
  const page = await visit("/alerts", {
    expected: [/500/],
    before: (p) =>
      p.route("**/api/v1/alerts?*", async (route) => {
        if (fail)
          await route.fulfill({ status: 500, json: { code: "internal", detail: "It broke.", requestId: "ABC" } });
        else await route.continue();
      }),
  });
  await page.getByText("Alerts could not be loaded").waitFor();
  await page.getByText("Request ABC").waitFor();
  fail = false;
  await page.getByRole("button", { name: "Retry" }).click();
  await page.locator("[data-alert]").first().waitFor();

  await page.unroute("**/api/v1/alerts?*");
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  await page.route("**/api/v1/alerts?*", async (route) => {
    await gate;
    await route.continue();
  });
  await page.getByText("Open", { exact: true }).first().click();
  await eventually(() => page.getByRole("table").getAttribute("aria-busy")).toBe("true");
  expect(await page.locator("[data-alert]").count()).toBeGreaterThan(0);
  go();
  await eventually(() => page.getByRole("table").getAttribute("aria-busy")).toBe("false");
});

/** ownAlert is an alert of the whole organization that a test may do with as it likes; gone is its token's end. */
async function ownAlert(): Promise<{ id: string; title: string }> {
  const token = (await (await apiAs("admin", "POST", "/api/v1/ingest-tokens", { name: "e2e alerts" })).json()) as {
    id: string;
    token: string;
  };
  const name = `e2e ${crypto.randomUUID().slice(0, 8)}`;
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  try {
    const answer = await fetch(`${serverUrl}/ingest/v1/alerts`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token.token}`, "Content-Type": "application/json" },
      body: JSON.stringify({
        alerts: [
          {
            externalId: name,
            title: `Checked by ${name}`,
            severity: "info",
            state: "Open",
            createdAt: at(30),
            firstTriggeredAt: at(30),
            lastTriggeredAt: at(1),
          },
        ],
      }),
    });
    const { alerts: recorded } = (await answer.json()) as { alerts: { id: string }[] };
    const { id } = recorded[0] as { id: string };
    await readable(`/api/v1/alerts/${id}`);
    return { id, title: `Checked by ${name}` };
  } finally {
    await apiAs("admin", "DELETE", `/api/v1/ingest-tokens/${token.id}`);
  }
}

test("a member acknowledges, mutes, unmutes and resolves an alert", async () => {
  const { id, title } = await ownAlert();
  const page = await visit(`/alerts/${id}`, { as: "member" });
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  const actions = page.getByRole("group", { name: "Actions" });
  const press = (name: string) => actions.getByRole("button", { name, exact: true }).click();
  const happened = (text: RegExp) => page.getByText(text).first().waitFor();

  await press("Acknowledge");
  await happened(/^Acknowledged by Mia Member$/);
  expect(await actions.getByRole("button", { name: "Acknowledge" }).count()).toBe(0);
  expect(await actions.evaluate((group) => group.contains(document.activeElement))).toBe(true);
  await press("Mute");
  await happened(/^Muted by Mia Member$/);
  await press("Unmute");
  await happened(/^Unmuted by Mia Member$/);

  await press("Resolve");
  const dialog = page.getByRole("dialog", { name: "Resolve this alert?" });
  await dialog.getByRole("button", { name: "Keep it open" }).click();
  await dialog.waitFor({ state: "detached" });
  await press("Resolve");
  await dialog.getByRole("button", { name: "Resolve", exact: true }).click();
  await happened(/^Resolved by Mia Member$/);
  expect(await actions.getByRole("button").allTextContents()).toEqual(["Mute", "More…"]);

  const now = () => read<{ state: string; isMuted: boolean }>(`/api/v1/alerts/${id}`);
  await eventually(now).toMatchObject({ state: "Resolved", isMuted: false });
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link").click();
  await page.locator("[data-search]").fill(title);
  await page.getByRole("row", { name: title }).getByText("Resolved", { exact: true }).waitFor();
});

test("an action that comes too late says so and shows the alert as it is now", async () => {
  const { id } = await ownAlert();
  const page = await visit(`/alerts/${id}`, { as: "member", expected: [/409/] });
  const acknowledge = page.getByRole("button", { name: "Acknowledge" });
  await acknowledge.waitFor();
  expect((await apiAs("admin", "POST", `/api/v1/alerts/${id}/resolve`)).status).toBe(200);
  await acknowledge.click();
  await page.getByText("Someone else changed it first").waitFor();
  await acknowledge.waitFor({ state: "detached" });
  await page.getByText(/^Resolved by /).waitFor();
});

test("a viewer sees an alert and no actions", async () => {
  const { items } = await alerts("status=open&pageSize=1");
  const alert = items[0] as Alert;
  const page = await visit(`/alerts/${alert.id}`, { as: "viewer" });
  await page.getByRole("heading", { level: 1, name: alert.title }).waitFor();
  await page.getByRole("heading", { name: "History", exact: true }).waitFor();
  expect(await page.getByRole("group", { name: "Actions" }).count()).toBe(0);
});

testLong("an alert that nobody knows says so and leads back with the scope", async () => {
  const page = await visit("about:blank", { expected: [/40[04]/] });
  for (const id of [crypto.randomUUID(), "nonsense"]) {
    await page.goto(`/alerts/${id}?range=7d`);
    await page.getByText("This alert does not exist, or belongs to another organization").waitFor();
    await page.getByRole("link", { name: "Go to alerts" }).click();
    await page.waitForURL(/\/alerts\?range=7d$/);
  }
});

test("40 nothing scrolls sideways on a phone", async () => {
  const long = "x".repeat(180);
  const page = await visit("/alerts?range=30d", {
    viewport: { width: 360, height: 800 },
    before: answering([made({ title: long, isMuted: true, state: "Acknowledged" })]),
  });
  await page.getByRole("link", { name: long }).waitFor();
  expect(await sideways(page)).toBe(false);
  await page.getByRole("button", { name: "More filters" }).click();
  await page.getByLabel("Order").waitFor();
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
  const { items } = await alerts("pageSize=1");
  await page.goto(`/alerts/${(items[0] as Alert).id}`);
  await page.getByRole("heading", { name: "History", exact: true }).waitFor();
  expect(await sideways(page)).toBe(false);
});
