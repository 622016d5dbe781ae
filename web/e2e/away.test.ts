// The server goes away under the pages, and comes back: a process that is really stopped, and started again.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { enter, requestsTo, testLong, violations, visit } from "./browser";
import { adminEmail, type Started, start } from "./muster";
import { signIn } from "./server";

let muster: Started;
let session: string;

beforeAll(async () => {
  muster = await start();
  session = await signIn(muster.url, adminEmail);
  await measure();
}, 120_000);
afterAll(() => muster?.stop());

/** measure gives the organization one server, with a host and sessions that were measured for some minutes. */
async function measure() {
  const post = async (path: string, headers: Record<string, string>, body: unknown) => {
    const sent = { "Content-Type": "application/json", ...headers };
    const answer = await fetch(`${muster.url}${path}`, { method: "POST", headers: sent, body: JSON.stringify(body) });
    const text = await answer.text();
    expect(answer.ok, `${path}: ${text}`).toBe(true);
    return JSON.parse(text) as { token: string };
  };
  const cookie = { Cookie: `__Host-muster_session=${session}` };
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const { token } = await post("/api/v1/ingest-tokens", cookie, { name: "away", expiresAt });
  const bearer = { Authorization: `Bearer ${token}` };
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const erp = { externalId: "erp", name: "erp", engine: "sqlserver", host: "win01", createdAt: at(60) };
  const databases = [{ externalId: "erp", name: "erp", createdAt: at(60) }];
  await post("/ingest/v1/fleet", bearer, { instances: [{ ...erp, databases }] });
  const minutes = [0, 1, 2, 3, 4, 5];
  await post("/ingest/v1/samples", bearer, {
    hosts: minutes.map((m) => ({
      host: "win01",
      instances: ["erp"],
      at: at(m),
      cpuPercent: 41.5,
      memoryPercent: 63,
      volumes: [],
    })),
    sessions: minutes.map((m) => ({
      instance: "erp",
      database: "erp",
      at: at(m),
      active: 4,
      idle: 20,
      waiting: 3,
      idleInTransaction: 1,
      waits: {},
      other: 0,
      intervalSeconds: 300, // they are what is open now for three times that
    })),
  });
  // Samples are in a tile a moment after they were sent. One that is asked for too early is kept without them for 30 s:
  // each time another window is asked for, and none that a page asks for.
  let longer = 6;
  const read = async () => {
    const query = new URLSearchParams({ from: at(longer++), to: at(0), bucketSize: "1m" });
    const answer = await fetch(`${muster.url}/api/v1/metrics/utilization?${query}`, { headers: cookie });
    const { series } = (await answer.json()) as { series: { cpuPercent: (number | null)[] } };
    expect(series.cpuPercent).toContain(41.5);
  };
  await vi.waitFor(read, { timeout: 15_000, interval: 200 });
}

/** What a browser, and axe of a style sheet that it asks for again, say of requests that nobody answers. */
const unanswered = [/Failed to load resource/, /ERR_/, /Couldn't load preload assets/];

const open = (address: string, before?: (page: Page) => Promise<unknown>) =>
  visit(address, {
    as: null,
    baseURL: muster.url,
    expected: unanswered,
    before: async (page) => {
      await enter(page.context(), muster.url, session);
      await page.clock.install();
      await before?.(page);
    },
  });

const banner = (page: Page) => page.getByRole("alert", { name: "The server cannot be reached" });
const chart = (page: Page) =>
  page.locator("section", { has: page.getByRole("heading", { name: "Utilization" }) }).locator("canvas");
const open20 = (page: Page) => page.locator('[data-kpi="connections"]').getByText("28 total");

test("5 server away: what was there stays, one banner, and the page goes on by itself", async () => {
  const page = await open("/?range=1h");
  await chart(page).first().waitFor();
  await open20(page).waitFor();
  await muster.end();
  const before = await page.evaluate(() => document.querySelectorAll("canvas").length);
  await page.getByRole("button", { name: "Refresh" }).click();
  await banner(page).waitFor();
  expect(await banner(page).locator("time").textContent()).toMatch(/\d\d:\d\d:\d\d/);
  // The second tries, the polls and the probes come to nothing: none of them ends in a red box.
  for (let i = 0; i < 4; i++) await page.clock.fastForward(10_000);
  expect(await page.getByRole("alert").count(), "one banner, and no other alert").toBe(1);
  expect(await page.evaluate(() => document.querySelectorAll("canvas").length)).toBe(before);
  await open20(page).waitFor();
  expect(await page.getByText("stale").count()).toBe(0);
  expect(await violations(page)).toEqual([]);

  // A page whose code was never loaded explains itself, and is there when the server is.
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Audit" }).click();
  await page.clock.fastForward(2_000);
  await page.getByText("This page is not loaded yet").waitFor();
  await banner(page).waitFor();
  await page.evaluate(() => Object.assign(window, { sameDocument: true }));

  await muster.restart({});
  await page.clock.fastForward(60_000);
  await banner(page).waitFor({ state: "hidden" });
  await page.getByText("The server can be reached again.").waitFor({ state: "attached" });
  await page.getByRole("heading", { level: 1, name: "Audit" }).waitFor();
  await page.getByRole("row").nth(1).waitFor();
  await page.goBack();
  await page.goBack();
  await chart(page).first().waitFor();
  expect(await page.evaluate(() => "sameDocument" in window), "without loading the page anew").toBe(true);
  await expect.poll(() => page.locator('main [aria-busy="true"]').count()).toBe(0);
  expect(await page.getByRole("alert").count()).toBe(0);
  // Its code was asked for at the first move of the pointer, when nobody answered.
  await page.locator('[data-kpi="connections"]').click();
  await page
    .getByRole("dialog", { name: /^Breakdown/ })
    .getByText("erp")
    .first()
    .waitFor();
}, 120_000);

testLong(
  "5 server away: what is tried fails with a word, and a part that is not loaded waits",
  async () => {
    const page = await open("/settings/organization");
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("Another name");
    await muster.end();
    await page.getByRole("button", { name: "Save" }).first().click();
    await banner(page).waitFor();
    await page.getByRole("main").getByText("The server cannot be reached.", { exact: true }).waitFor();
    expect(await name.inputValue(), "what was typed").toBe("Another name");
    await page.keyboard.press("?");
    // After the third probe in vain the page waits 40 s before it tries again by itself.
    const probes = requestsTo(page, "/api/v1/session");
    const jump = async () => {
      await page.clock.fastForward(3_000);
      return probes.length;
    };
    await expect.poll(jump).toBe(3);
    await name.waitFor();
    await muster.restart({});
    await banner(page).getByRole("button", { name: "Try now" }).click();
    await banner(page).waitFor({ state: "hidden" });
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await name.inputValue()).toBe("Another name");
  },
  120_000,
);
