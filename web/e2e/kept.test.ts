// The pages that serve one test after the other: a test sees nothing of what the one before did.
import type { Page } from "playwright-core";
import { expect, type TestContext, test } from "vitest";
import { adminSession, enter, leave, serverUrl, visit } from "./browser";

const hour = 3_600_000;

/** asked is how much of an answer crosses the network: nothing of one that the browser has. */
const asked = (page: Page, address: string): Promise<number> =>
  page.evaluate(async (url) => {
    await (await fetch(url)).arrayBuffer();
    const entries = performance.getEntriesByName(new URL(url, location.href).href) as PerformanceResourceTiming[];
    return entries.at(-1)?.transferSize ?? -1;
  }, address);

const media = (page: Page) =>
  page.evaluate(() =>
    ["print", "(prefers-color-scheme: dark)", "(forced-colors: active)", "(prefers-contrast: more)"].filter(
      (query) => matchMedia(query).matches,
    ),
  );

const storage = (page: Page) =>
  page.evaluate(async () => ({
    local: localStorage.getItem("left"),
    session: sessionStorage.getItem("left"),
    name: window.name,
    databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length,
  }));

/** moved is where the page has the mouse halfway to a place. */
async function moved(page: Page, to: number): Promise<number | undefined> {
  await page.evaluate(() => {
    const heard: number[] = [];
    Object.assign(window, { heard });
    addEventListener("mousemove", (event) => heard.push(event.clientX));
  });
  await page.mouse.move(to, 0, { steps: 2 });
  return page.evaluate(() => (window as unknown as { heard: number[] }).heard[0]);
}

const role = (page: Page) =>
  page.evaluate(
    async () => ((await (await fetch("/api/v1/session")).json()) as { member: { role: string } }).member.role,
  );

test("a page that serves the next test has nothing of what was done to it", async (context) => {
  const first = await visit("/reports/verify", { viewport: { width: 360, height: 800 }, colorScheme: "dark" });
  expect(await role(first)).toBe("admin");
  const [from, to] = [3, 2].map((hours) => new Date(Math.floor(Date.now() / hour - hours) * hour).toISOString());
  const tile = `/api/v1/metrics/utilization?bucketSize=1m&from=${from}&to=${to}`;
  const file = /\/assets\/[^"]+\.js/.exec(await (await fetch(`${serverUrl}/`)).text())?.[0] ?? "";
  for (const address of [tile, file]) await asked(first, address);
  expect([await asked(first, tile), await asked(first, file)], "what the browser has already").toEqual([0, 0]);

  let heard = 0;
  first.on("request", () => heard++);
  first.context().on("request", () => heard++);
  for (const [where, url] of [
    [first, "**/readyz"],
    [first.context(), "**/docs/api"],
  ] as const) {
    await where.route(url, (route) => route.fulfill({ body: "made up" }));
  }
  await first.emulateMedia({ media: "print", colorScheme: "dark", forcedColors: "active", contrast: "more" });
  await first.setViewportSize({ width: 500, height: 400 });
  await first.context().addCookies([{ name: "left", value: "1", url: serverUrl }]);
  await first.evaluate(async () => {
    localStorage.setItem("left", "1");
    sessionStorage.setItem("left", "1");
    window.name = "left";
    await new Promise((opened) => {
      indexedDB.open("left").onsuccess = opened;
    });
    await caches.open("left");
    for (let n = 0; n < 4; n++) history.pushState({}, "", `?${n}`);
  });
  await (await first.context().newPage()).goto("/healthz");
  expect(await moved(first, 100)).toBe(50);
  await leave(context);
  const before = heard;
  expect(before).toBeGreaterThan(0);

  const second = await visit("/reports/verify", { as: "viewer" });
  expect(second === first, "it is the same page").toBe(true);
  expect(await role(second)).toBe("viewer");
  expect(heard).toBe(before);
  for (const address of ["/readyz", "/docs/api"]) {
    expect(await second.evaluate(async (url) => (await fetch(url)).text(), address)).not.toBe("made up");
  }
  expect(await media(second)).toEqual([]);
  expect(await second.evaluate(() => [innerWidth, innerHeight])).toEqual([1320, 900]);
  expect((await second.context().cookies()).map(({ name }) => name).sort()).toEqual(["__Host-muster_session", "visit"]);
  expect(await storage(second)).toEqual({ local: null, session: null, name: "", databases: 0, caches: 0 });
  expect(await second.evaluate(() => history.length)).toBeLessThan(3);
  expect(second.context().pages()).toHaveLength(1);
  expect(await moved(second, 200)).toBe(100);
  await enter(second.context(), serverUrl, adminSession); // as the first asked for it
  expect(await asked(second, tile), "an answer of the visit before").toBeGreaterThan(0);
  expect(await asked(second, file), "the application's files").toBe(0);
});

/** A document that costs nothing. */
const path = "/healthz";

const unkept: [string, (page: Page) => unknown][] = [
  ["scripts", (page) => page.addInitScript("")],
  ["scripts in its context", (page) => page.context().addInitScript("")],
  ["a function", (page) => page.exposeFunction("left", () => 1)],
  ["a clock", (page) => page.clock.setFixedTime(0)],
  ["headers", (page) => page.setExtraHTTPHeaders({ left: "1" })],
  ["no network", (page) => page.context().setOffline(true)],
  ["a permission", (page) => page.context().grantPermissions(["clipboard-read"])],
  ["its tools", (page) => page.context().newCDPSession(page)],
  ["a patience", (page) => page.setDefaultTimeout(1_000)],
  ["its end", (page) => page.close()],
];

test("a page that was given what cannot be taken back serves no other test, nor does one whose test failed", async (context) => {
  let last = await visit(path);
  for (const [what, give] of unkept) {
    await give(last);
    await leave(context);
    const next = await visit(path);
    expect(next === last, what).toBe(false);
    last = next;
  }
  const failed = { task: { result: { state: "fail" } } } as TestContext;
  await leave(failed);
  const ordinary = await visit(path);
  expect(ordinary === last, "failed").toBe(false);
  await leave(context);
  for (const options of [
    { fresh: true },
    { notices: true },
    { timezoneId: "America/New_York" },
    { baseURL: serverUrl }, // another server's, as a rule
  ]) {
    expect((await visit(path, options)) === ordinary, Object.keys(options)[0]).toBe(false);
  }
  await leave(context);
  expect((await visit(path)) === ordinary, "kept beside those").toBe(true);
  await leave(failed);
  expect(ordinary.isClosed()).toBe(true);
});
