// What is done with alerts, one and many: notes, mutes that end, selection.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { apiAs, requestsTo, serverUrl, violations, visit } from "./browser";
import { sideways } from "./pages";

type Own = { id: string; title: string };
type Detail = {
  state: string;
  isMuted: boolean;
  mutedUntil: string | null;
  timeline: { event: string; note: string | null; until: string | null }[];
};

const read = async <T>(path: string): Promise<T> => (await apiAs("member", "GET", path)).json() as Promise<T>;
const detail = (id: string) => read<Detail>(`/api/v1/alerts/${id}`);

/** ownAlerts are so many open alerts that one test may do with as it likes; a search for name finds them. */
async function ownAlerts(n: number): Promise<{ name: string; alerts: Own[] }> {
  const token = (await (await apiAs("admin", "POST", "/api/v1/ingest-tokens", { name: "e2e acts" })).json()) as {
    id: string;
    token: string;
  };
  const name = `act ${crypto.randomUUID().slice(0, 8)}`;
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  try {
    const titles = Array.from({ length: n }, (_, i) => `Number ${i + 1} of ${name}`);
    const answer = await fetch(`${serverUrl}/ingest/v1/alerts`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token.token}`, "Content-Type": "application/json" },
      body: JSON.stringify({
        alerts: titles.map((title, i) => ({
          externalId: title,
          title,
          severity: "warning",
          state: "Open",
          createdAt: at(30 - i),
          firstTriggeredAt: at(30 - i),
          lastTriggeredAt: at(20 - i),
        })),
      }),
    });
    const { alerts } = (await answer.json()) as { alerts: { id: string }[] };
    return { name, alerts: alerts.map(({ id }, i) => ({ id, title: titles[i] as string })) };
  } finally {
    await apiAs("admin", "DELETE", `/api/v1/ingest-tokens/${token.id}`);
  }
}

const narrow = { viewport: { width: 360, height: 800 } };

test("a note and the end of a mute are given with an action, and shown with who and when", async () => {
  const { alerts } = await ownAlerts(1);
  const { id, title } = alerts[0] as Own;
  const page = await visit(`/alerts/${id}`, { as: "member", expected: [/422/] });
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  const open = () => page.getByRole("button", { name: "More…" }).click();
  const dialog = page.getByRole("dialog", { name: "Act on the alert" });
  const note = dialog.getByRole("textbox", { name: "Note (optional)" });

  await open();
  await note.fill("Known: <b>the move</b>\nof the disks");
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("Acknowledged by Mia Member").waitFor();
  expect(await page.getByRole("blockquote").textContent()).toBe("Known: <b>the move</b>\nof the disks");
  await expect
    .poll(() => page.getByRole("group", { name: "Actions" }).evaluate((g) => g.contains(document.activeElement)))
    .toBe(true);

  // What the form can tell is told before anything is sent; what the server refuses, at its field.
  await open();
  await dialog.getByRole("radio", { name: "Mute", exact: true }).check();
  await dialog.getByLabel("How long").selectOption("Until a time");
  await dialog.getByLabel("Muted until").fill("2020-01-01T00:00");
  await dialog.getByRole("button", { name: "Mute", exact: true }).click();
  await dialog.getByText("Choose a time in the future, at most a year ahead.").waitFor();
  await note.fill("turned \u202e around");
  await dialog.getByLabel("How long").selectOption("For 4 hours");
  await dialog.getByRole("button", { name: "Mute", exact: true }).click();
  await dialog.getByText(/change the direction of text/).waitFor();
  await expect.poll(() => note.evaluate((field) => field === document.activeElement)).toBe(true);
  await note.fill("for the night");
  await dialog.getByRole("button", { name: "Mute", exact: true }).click();
  await page.getByText(/^Muted by Mia Member until /).waitFor();
  await page.getByText(/^Muted until /).waitFor();
  const now = await detail(id);
  const ahead = Date.parse(now.mutedUntil ?? "") - Date.now();
  expect([now.isMuted, Math.round(ahead / 3_600_000)]).toEqual([true, 4]);
  expect(now.timeline.map((m) => m.note)).toEqual([null, "Known: <b>the move</b>\nof the disks", "for the night"]);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize(narrow.viewport);
  expect(await sideways(page)).toBe(false);
});

const bar = (page: Page) => page.getByRole("group", { name: "Actions on the selected alerts" });

test("several alerts are selected by keyboard and dealt with at once; who could not be stays selected", async () => {
  const { name, alerts } = await ownAlerts(3);
  const [first, second, third] = alerts as [Own, Own, Own];
  expect((await apiAs("admin", "POST", `/api/v1/alerts/${second.id}/mute`)).status).toBe(200);
  const page = await visit(`/alerts?q=${encodeURIComponent(name)}`, { as: "member" });
  await page.getByRole("link", { name: third.title }).waitFor();
  expect(await bar(page).getByRole("button").count()).toBe(0);

  const all = page.getByRole("checkbox", { name: "Select all alerts on this page" });
  await page.getByRole("checkbox", { name: `Select ${first.title}` }).focus();
  await page.keyboard.press("Space");
  await page.getByRole("status").getByText("1 alert selected").waitFor({ state: "attached" });
  expect(await all.evaluate((box: HTMLInputElement) => box.indeterminate)).toBe(true);
  expect(await bar(page).getByRole("button", { name: "Unmute" }).isDisabled()).toBe(true);
  await all.focus();
  await page.keyboard.press("Space");
  await page.getByRole("status").getByText("3 alerts selected").waitFor({ state: "attached" });
  expect(await violations(page)).toEqual([]);

  await bar(page).getByRole("button", { name: "Mute", exact: true }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Mute 3 alerts" });
  await dialog.getByRole("textbox", { name: "Note (optional)" }).fill("one broken switch");
  await dialog.getByRole("button", { name: "Mute 3 alerts" }).click();
  await page.getByText("2 of 3 alerts muted. 1 was not: The alert is muted already.").waitFor();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => page.getByRole("checkbox", { name: `Select ${second.title}` }).isChecked()).toBe(true);
  expect(await page.getByRole("checkbox", { name: `Select ${first.title}` }).isChecked()).toBe(false);
  await expect.poll(() => bar(page).evaluate((place) => place.contains(document.activeElement))).toBe(true);
  await expect.poll(() => page.getByRole("row").getByText("Muted", { exact: true }).count()).toBe(3);
  expect((await detail(third.id)).timeline.at(-1)).toMatchObject({ event: "muted", note: "one broken switch" });

  // Another address begins with nothing selected.
  await page.getByRole("columnheader", { name: "Severity" }).getByRole("button").click();
  await page.waitForURL(/sort=/);
  await bar(page).getByRole("button").first().waitFor({ state: "detached" });
  await page.setViewportSize(narrow.viewport);
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await bar(page).getByRole("button", { name: "Resolve" }).waitFor();
  expect(await sideways(page)).toBe(false);
});

test("a viewer selects nothing", async () => {
  const page = await visit("/alerts?range=30d", { as: "viewer" });
  await page.getByRole("row").nth(2).waitFor();
  expect(await page.getByRole("row").getByRole("checkbox").count()).toBe(0);
});

test("alerts are marks on every chart, which the address hides", async () => {
  const page = await visit("/?range=24h", { as: "member" });
  const marks = page.locator(".chart-mark");
  const charts = page.locator("[data-chart]");
  await expect.poll(() => charts.count()).toBe(4);
  await expect.poll(() => marks.count()).toBeGreaterThan(3);
  const each = () => charts.evaluateAll((all) => all.map((chart) => chart.querySelectorAll(".chart-mark").length));
  await expect.poll(async () => new Set(await each()).size).toBe(1);
  const glyph = marks.last().locator("i");
  expect(await glyph.getAttribute("title")).toMatch(/ (raised|resolved): /);
  const plot = await charts.last().locator("canvas").boundingBox();
  const at = await glyph.boundingBox();
  expect(at && plot && at.x >= plot.x && at.x <= plot.x + plot.width).toBe(true);
  expect(
    await page
      .locator("[data-chart] [id]")
      .getByText(/alerts? raised and \d+ resolved/)
      .count(),
  ).toBe(4);
  expect(await violations(page)).toEqual([]);

  await page.getByRole("button", { name: "Utilization: more" }).click();
  await page.getByRole("menuitem", { name: "Hide alerts on charts" }).click();
  await page.waitForURL(/hide=alertMarks/);
  await expect.poll(() => marks.count()).toBe(0);
  const asked = requestsTo(page, "/api/v1/alerts");
  await page.reload();
  await expect.poll(() => charts.count()).toBe(4);
  await page.getByRole("button", { name: "Wait events: more" }).click();
  await page.getByRole("menuitem", { name: "Show alerts on charts" }).click();
  await expect.poll(() => marks.count()).toBeGreaterThan(3);
  expect(asked.filter((url) => url.searchParams.get("pageSize") === "100")).toHaveLength(1);
});

test("an alert shows its value against its threshold, what it means, and the way to the dashboard then", async () => {
  const { items } = await read<{ items: { id: string; instance: { id: string; name: string } }[] }>(
    "/api/v1/alerts?q=Replication%20lag%20above%2060&status=open",
  );
  const alert = items[0] as (typeof items)[number];
  const page = await visit(`/alerts/${alert.id}`, { as: "member" });
  await page.getByText(/^The standby is behind its primary/).waitFor();
  await page.getByText("Replication lag (threshold 60 seconds)").waitFor();
  expect(await page.getByRole("heading", { name: "Value and threshold" }).count()).toBe(0);

  // Of the watch's own rule, with a threshold of what the dashboard has.
  const first = new Date(Date.now() - 3 * 3_600_000).toISOString();
  const shown = await read<Record<string, unknown>>(`/api/v1/alerts/${alert.id}`);
  await page.route(`**/api/v1/alerts/${alert.id}`, (route) =>
    route.fulfill({
      json: {
        ...shown,
        firstTriggeredAt: first,
        description: "Free space.",
        rule: { id: "volume", name: "Volume nearly full", threshold: 90, unit: "percent" },
      },
    }),
  );
  const asked = requestsTo(page, "/api/v1/metrics/utilization");
  await page.reload();
  await page.getByText("A volume of the host is nearly full.").waitFor();
  const chart = page.getByRole("figure", { name: "The fullest volume of the server, with its threshold" });
  await chart.locator("canvas").waitFor();
  expect(asked[0]?.searchParams.getAll("instanceId")).toEqual([alert.instance.id]);
  expect(await chart.getByText("Threshold").count()).toBeGreaterThan(0);
  expect(await chart.getByText("90 %", { exact: true }).count()).toBeGreaterThan(0);
  await chart.getByText("raised", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize(narrow.viewport);
  expect(await sideways(page)).toBe(false);
  await page.getByRole("link", { name: `Dashboard at that time, ${alert.instance.name} only` }).click();
  await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor();
  const address = new URL(page.url()).searchParams;
  expect(address.getAll("instanceId").join()).toBe(alert.instance.id);
  expect(Date.parse(address.get("from") ?? "")).toBe(Date.parse(first) - 3_600_000);
});
