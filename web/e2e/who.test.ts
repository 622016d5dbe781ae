// Who is behind a figure: the panel that a click on the dashboard opens, against what the API says of the demo.
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, violations, visit } from "./browser";
import { sideways } from "./pages";
import { allDrawn, cursorOf, expectHover, plotOf, pointAt, readout, type Title } from "./trends";

type Answer = Schemas["Contributors"];

const minute = 60_000;
/** An hour that is over, from three hours ago on: sixty buckets of a minute. */
const first = Math.floor(Date.now() / (60 * minute)) * 60 * minute - 3 * 60 * minute;
const at = (minutes: number) => new Date(first + minutes * minute).toISOString();
const hour = `from=${at(0)}&to=${at(60)}`;

const panel = (page: Page, title: string) => page.getByRole("dialog", { name: `Breakdown: ${title}`, exact: true });
const total = (of: Locator) => of.locator("[data-who-total]");
const rows = (of: Locator) => of.locator("[data-who-row]");

/** behind is what the API says of the panel's address. */
async function behind(page: Page, tile: string, by: string): Promise<Answer> {
  const here = new URL(page.url()).searchParams;
  const query = new URLSearchParams({
    series: here.get("who")?.replace("firing", "active") ?? "",
    by: here.get("whoBy") ?? by,
  });
  for (const [name, from] of [
    ["from", "whoFrom"],
    ["to", "whoTo"],
  ] as const) {
    const value = here.get(from);
    if (value) query.set(name, value);
  }
  for (const id of here.getAll("instanceId")) query.append("instanceId", id);
  const answer = await apiAs("admin", "GET", `/api/v1/${tile}/contributors?${query}`);
  expect(answer.status, String(query)).toBe(200);
  return (await answer.json()) as Answer;
}

/** number is what a text says; latencies from a second on are written in seconds, and answered in milliseconds. */
const number = (text: string | null) =>
  Number(/-?[\d,]+(\.\d+)?/.exec(text ?? "")?.[0].replaceAll(",", "")) * (/\d s$/.test(text ?? "") ? 1_000 : 1);

/** expectAnswer holds the panel against an answer: its figure, every row in its order, and the others. */
async function expectAnswer(of: Locator, answer: Answer, name: (item: Answer["items"][number]) => string) {
  expect(answer.items.length, "contributors in the demo").toBeGreaterThan(0);
  await expect.poll(() => rows(of).locator("bdi").allTextContents()).toEqual(answer.items.map(name));
  const close = (shown: string | null, value: number) =>
    expect(Math.abs(number(shown) - value), `${shown} for ${value}`).toBeLessThanOrEqual(
      Math.max(0.0501, value * 0.01),
    );
  close(await total(of).textContent(), answer.total ?? Number.NaN);
  for (const [i, text] of (await rows(of).locator("[data-who-value]").allTextContents()).entries()) {
    close(text, answer.items[i]?.value ?? Number.NaN);
  }
  const others = of.locator("[data-who-others]");
  expect(await others.count()).toBe(answer.others.count > 0 ? 1 : 0);
  if (answer.others.count > 0) expect(number(await others.textContent())).toBe(answer.others.count);
}

/** clickAt clicks a plot: at a share of its width, and so many pixels below its top. */
async function clickAt(page: Page, title: Title, share: number, y: number) {
  const box = await plotOf(page, title).boundingBox();
  if (!box) throw new Error(`${title} has no plot`);
  await page.mouse.click(box.x + box.width * share, box.y + y);
}

test("a click on a figure says who is behind it, as the API does, by mouse and by keys", async () => {
  const page = await visit(`/?${hour}&hide=`);
  await allDrawn(page);
  await pointAt(page, "Wait events", 0.508);
  await expectHover(page, 30);
  const figure = await readout(page, "Wait events", "total");

  await page.evaluate(() => {
    document.addEventListener(
      "click",
      () => {
        const clicked = performance.now();
        const seen = new MutationObserver(() => {
          if (!document.querySelector('[role="dialog"]')) return;
          seen.disconnect();
          performance.measure("opening", { start: clicked });
        });
        seen.observe(document.body, { childList: true, subtree: true });
      },
      { once: true, capture: true },
    );
  });
  await clickAt(page, "Wait events", 0.508, 1);
  const waits = panel(page, "Wait events");
  await waits.waitFor();
  const opening = await page.evaluate(() => performance.getEntriesByName("opening")[0]?.duration);
  process.stdout.write(`budget: the panel opened ${opening?.toFixed(0)} ms after the click, at most 150 ms\n`);
  expect(page.url()).toContain(`?${hour}&hide=&who=all&whoFrom=${at(30)}&whoTo=${at(31)}`);
  await total(waits).waitFor();
  expect(await total(waits).textContent(), "the tile's figure").toBe(figure);
  const all = await behind(page, "metrics/wait-events", "instance");
  await expectAnswer(waits, all, (item) => item.instance?.name ?? "");
  expect(await waits.getByRole("status").first().textContent()).toContain(`All waits ${figure}, `);
  expect(await waits.getByRole("heading", { level: 2 }).evaluate((e) => e === document.activeElement)).toBe(true);
  const alerts = await apiAs("admin", "GET", `/api/v1/alerts?pageSize=5&from=${at(30)}&to=${at(31)}`);
  const fired = (await alerts.json()) as { items: { title: string }[] };
  const then = waits.getByRole("region", { name: "Alerts that fired last in this time" });
  if (fired.items.length === 0) await then.getByText("None.").waitFor();
  else await expect.poll(() => then.getByRole("link").count()).toBeGreaterThanOrEqual(fired.items.length);
  expect(await violations(page)).toEqual([]);

  // another series, told apart in another way: no step for Back
  const steps = await page.evaluate(() => history.length);
  await waits.getByLabel("Wait events", { exact: true }).selectOption("io");
  await waits.getByLabel("By").selectOption("database");
  await page.waitForURL(/who=io.*whoBy=database/);
  await expectAnswer(waits, await behind(page, "metrics/wait-events", "instance"), (item) => item.database?.name ?? "");
  expect(await page.evaluate(() => history.length)).toBe(steps);

  // Escape gives the chart back, with its cursor; Back opens the panel again
  await page.keyboard.press("Escape");
  await waits.waitFor({ state: "detached" });
  expect(await cursorOf(page, "Wait events").evaluate((e) => e === document.activeElement)).toBe(true);
  await expectHover(page, 30);
  expect(page.url()).not.toContain("who");
  await page.goBack();
  await waits.waitFor();
  await waits.getByRole("button", { name: "Close" }).click();

  // by keys, from the chart's cursor
  await cursorOf(page, "Utilization").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  const cpu = await readout(page, "Utilization", 0);
  await page.keyboard.press("Enter");
  const utilization = panel(page, "Utilization");
  await total(utilization).waitFor();
  expect(await total(utilization).textContent()).toBe(cpu);
  expect(page.url()).toContain(`who=cpu&whoFrom=${at(1)}&whoTo=${at(2)}`);
  await expectAnswer(utilization, await behind(page, "metrics/utilization", "host"), (item) => item.host ?? "");

  // the whole window, then one server alone, with the rest of the address
  await utilization.getByRole("button", { name: "Whole window" }).click();
  await page.waitForURL((url) => url.searchParams.get("whoTo") === at(60));
  await expectAnswer(utilization, await behind(page, "metrics/utilization", "host"), (item) => item.host ?? "");
  await page.keyboard.press("Escape");

  // the alerts behind their history
  await cursorOf(page, "Alert history").focus();
  await page.keyboard.press("End");
  const firing = await readout(page, "Alert history", 0);
  await page.keyboard.press("Enter");
  const raised = panel(page, "Alert history");
  await total(raised).waitFor();
  expect(await total(raised).textContent()).toBe(firing);
  const alarms = await behind(page, "alerts/raised-resolved-history", "alert");
  expect(await rows(raised).locator("bdi").allTextContents()).toEqual(alarms.items.map((i) => i.alert?.title));
  await page.keyboard.press("Escape");

  // connections are of this moment
  await page.locator('[data-kpi="connections"]').click();
  const connections = panel(page, "Connections");
  await total(connections).waitFor();
  expect(page.url()).toMatch(/who=total$/);
  const snapshot = await behind(page, "metrics/connections", "instance");
  await expect.poll(() => rows(connections).count()).toBe(snapshot.items.length);
  await rows(connections).getByRole("link").first().click();
  await page.waitForURL(/instanceId=/);
  const { searchParams } = new URL(page.url());
  expect(searchParams.getAll("instanceId").length).toBe(1);
  expect([searchParams.get("from"), searchParams.get("hide"), searchParams.get("who")]).toEqual([at(0), "", "total"]);
  await expect.poll(() => rows(connections).count()).toBe(1);
});

test("a copied link opens the panel on a narrow screen, in every state", async () => {
  const link = `/?${hour}&who=maximum&whoFrom=${at(30)}&whoTo=${at(31)}&whoBy=instance`;
  let answer: ((real: Answer) => { status?: number; json: unknown }) | null = null;
  const page = await visit(link, {
    viewport: { width: 360, height: 800 },
    expected: [/ 500 | 422 /],
    before: (p) =>
      p.route("**/contributors?*", async (route) => {
        const response = await route.fetch();
        if (answer === null) return route.fulfill({ response });
        const made = answer((await response.json()) as Answer);
        return route.fulfill({ status: made.status ?? 200, contentType: "application/problem+json", json: made.json });
      }),
  });
  const slowest = panel(page, "Query performance");
  await total(slowest).waitFor();
  const real = await behind(page, "metrics/query-performance", "instance");
  await expectAnswer(slowest, real, (item) => item.instance?.name ?? "");
  const href = (await rows(slowest).getByRole("link").first().getAttribute("href")) ?? "";
  const to = new URL(href, "http://x").searchParams;
  expect([to.get("instanceId"), to.get("from"), to.get("to"), to.get("who")]).toEqual([
    real.items[0]?.instance?.id,
    new Date(first + 25.5 * minute).toISOString(),
    new Date(first + 35.5 * minute).toISOString(),
    "maximum",
  ]);
  expect(await slowest.getAttribute("aria-modal")).toBe("true");
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);

  const turn = (name: "Later" | "Earlier") => slowest.getByRole("button", { name, exact: true }).click();
  const said = { detail: "That was refused.", title: "Refused", requestId: "r-1" };
  answer = () => ({ status: 500, json: { ...said, status: 500, code: "internal" } });
  await turn("Later");
  await slowest.getByText("The breakdown could not be read").waitFor();

  const since = new Date(first - 24 * 60 * minute).toISOString();
  const rule = { in: "query", parameter: "from", code: "detail_not_kept", detail: "is too early", params: { since } };
  answer = () => ({ status: 422, json: { ...said, status: 422, code: "validation_failed", errors: [rule] } });
  await slowest.getByLabel("By").selectOption("database");
  await slowest.getByText("Not kept by database for this time").waitFor();
  await slowest.getByText(/It is kept since \d/).waitFor();

  answer = (got) => ({ json: { ...got, incomplete: true, total: null, items: [] } });
  await slowest.getByRole("button", { name: "Show by instance" }).click();
  await turn("Earlier");
  await turn("Earlier");
  await slowest.getByText("No data in this time", { exact: true }).waitFor();
  await slowest.getByText(/a database engine could not be read/).waitFor();

  answer = (got) => {
    const [item] = got.items;
    return { json: { ...got, items: [{ ...item, instance: { ...item?.instance, name: "gone-01", removed: true } }] } };
  };
  await turn("Earlier");
  await rows(slowest).getByText("removed").waitFor();
  expect(await rows(slowest).getByRole("link").count(), "a removed server leads nowhere").toBe(0);
});
