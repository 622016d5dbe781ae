// The dashboard, against the demo organization; stubs only where an exact shape or a fault is needed.
import type { Locator, Page, Request, Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { apiAs, requestsTo, testLong, type Visit, violations, visit } from "./browser";
import { takenIn, watchAnswers } from "./taken";
import { answerTrends, type Title, tilePaths, titles } from "./trends";

const tile = (page: Page, title: Title): Locator =>
  page.locator("section", { has: page.getByRole("heading", { level: 2, name: title, exact: true }) });
const digest = (page: Page) => page.getByRole("region", { name: "Latest 10 alerts" });
const kpi = (page: Page, name: string) => page.locator(`[data-kpi="${name}"]`);
const plot = (page: Page, title: Title) => tile(page, title).locator("canvas").first();

/** drawn waits until everything on the page has its first answer. */
async function drawn(page: Page) {
  await Promise.all([
    ...titles.map((title) => plot(page, title).waitFor()),
    kpi(page, "alerts").waitFor(),
    kpi(page, "connections").getByText("total").waitFor(),
    digest(page).getByRole("listitem").first().waitFor(),
    page.getByText(/active instances? reporting/).waitFor(),
  ]);
}

/** asked collects what the page asks of the API from its very first request. */
function asked(): { visit: Visit; all: URL[]; of: (path: string) => URL[] } {
  let all: URL[] = [];
  return {
    visit: {
      before: async (page) => {
        all = requestsTo(page, "/api/v1/");
      },
    },
    get all() {
      return all;
    },
    of: (path) => all.filter((url) => url.pathname === path),
  };
}

/** soon is expect.poll with the patience that two busy cores need. */
const soon = <T>(read: () => T, message?: string) => expect.poll(read, { timeout: 15_000, message });

/** turnTo changes the address as a link of the application does: without loading the page anew. */
const turnTo = (page: Page, address: string) =>
  page.evaluate((to) => {
    history.pushState({}, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, address);

const refresh = (page: Page) => page.getByRole("button", { name: "Refresh" }).click();

/** answering replaces what a path answers; the real answer is there to be changed. */
const answering = (page: Page, path: string, change: (body: never, request: Request) => unknown) =>
  page.route(
    (url) => url.pathname === path,
    async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: change((await response.json()) as never, route.request()) });
    },
  );

const two = async (): Promise<{ id: string; name: string }[]> => {
  const answer = await apiAs("admin", "GET", "/api/v1/alerts?status=open&muted=exclude&pageSize=100");
  const { items } = (await answer.json()) as { items: { instance: { id: string; name: string } | null }[] };
  const found = new Map(items.flatMap(({ instance }) => (instance ? [[instance.id, instance] as const] : [])));
  expect(found.size, "instances with open alerts in the demo").toBeGreaterThan(1);
  return [...found.values()].slice(0, 2);
};

const filter = (instances: { id: string }[]) => instances.map(({ id }) => `instanceId=${id}`).join("&");

test("3 Refresh re-anchors every windowed tile together", async () => {
  const heard = asked();
  const page = await visit("/?range=1h", heard.visit);
  await drawn(page);
  const windows = () =>
    titles.map((title) => {
      const last = heard.of(tilePaths[title]).at(-1);
      return last?.search
        .match(/(from|to|bucketSize)=[^&]*/g)
        ?.sort()
        .join("&");
    });
  const before = new Set(windows());
  expect(before.size).toBe(1);
  const counts = titles.map((title) => heard.of(tilePaths[title]).length);
  expect(counts, "what is asked for early is not asked for again by the tiles").toEqual([1, 1, 1, 1]);
  await refresh(page);
  await soon(() => titles.map((title) => heard.of(tilePaths[title]).length)).toEqual(counts.map((n) => n + 1));
  const after = new Set(windows());
  expect(after.size).toBe(1);
  expect([...after][0]).toContain("bucketSize=1m");
  expect(after).not.toEqual(before);
});

test("4 widgets without a window ignore it", async () => {
  const heard = asked();
  const page = await visit("/?range=1h", heard.visit);
  await drawn(page);
  const still = ["/api/v1/health-checks/overview", "/api/v1/metrics/connections", "/api/v1/instances"];
  const count = () => still.map((path) => heard.of(path).length);
  const before = count();
  const text = await kpi(page, "alerts").textContent();
  await turnTo(page, "/?range=7d");
  await soon(
    () => heard.of(tilePaths["Wait events"]).filter((url) => url.search.includes("bucketSize=1h")).length,
  ).toBe(1);
  await soon(() => tile(page, "Wait events").getAttribute("aria-busy")).toBe("false");
  expect(count()).toEqual(before);
  expect(await kpi(page, "alerts").textContent()).toBe(text);
  await refresh(page);
  await soon(() => count()[0]).toBe((before[0] ?? 0) + 1);
  await soon(() => count()[1]).toBe((before[1] ?? 0) + 1);
});

const overview = (alerts: number, instances = 1) => ({
  asOf: "2026-11-20T11:37:02Z",
  comparedAt: "2026-11-13T11:37:02Z",
  instances: { current: 14, previous: 14 - instances, trend: instances },
  databases: { current: 17, previous: 17, trend: 0 },
  alerts: { current: 3, previous: 3 - alerts, trend: alerts },
  states: { up: 14, down: 0, silent: 0, unknown: 0, inactive: 0 },
  overdueFindings: 0,
});

testLong("9 the trend reads in words, not only in colour", async () => {
  let alerts = -2;
  const page = await visit("/", {
    before: (page) => answering(page, "/api/v1/health-checks/overview", () => overview(alerts)),
  });
  const link = page.getByRole("link", { name: "Alerts 3, −2 in 7 days", exact: true });
  await link.getByText("−2 in 7 days").waitFor();
  expect(await link.locator("[data-tone]").getAttribute("data-tone")).toBe("good");
  expect(await link.locator("svg").count()).toBe(1);
  await page.getByRole("group", { name: "Databases 17, no change", exact: true }).waitFor();
  const instances = page.getByRole("link", { name: "Instances 14, +1 in 7 days", exact: true });
  expect(await instances.locator("[data-tone]").getAttribute("data-tone")).toBe("neutral");

  alerts = 2;
  await refresh(page);
  const worse = page.getByRole("link", { name: "Alerts 3, +2 in 7 days", exact: true });
  await worse.waitFor();
  const colour = (of: Locator) => of.locator("[data-tone]").evaluate((e) => getComputedStyle(e).color);
  expect(await worse.locator("[data-tone]").getAttribute("data-tone")).toBe("bad");
  expect(await colour(worse)).not.toBe(await colour(instances));
});

test("one line says how many findings are overdue, and leads to them", async () => {
  const list = await (await apiAs("admin", "GET", "/api/v1/findings?overdue=true&pageSize=1")).json();
  const { totalItems } = (list as { page: { totalItems: number } }).page;
  expect(totalItems).toBeGreaterThan(0);
  let overdue: number | null = totalItems;
  const page = await visit("/", {
    before: (page) =>
      answering(page, "/api/v1/health-checks/overview", (body: object) => ({ ...body, overdueFindings: overdue })),
  });
  const line = page.locator("[data-overdue]");
  await line.waitFor();
  expect((await line.textContent())?.trim()).toBe(`${totalItems.toLocaleString("en")} findings overdue`);
  for (const none of [0, null]) {
    overdue = none;
    await refresh(page);
    await line.waitFor({ state: "detached" });
    overdue = totalItems;
    await refresh(page);
    await line.waitFor();
  }
  await line.click();
  await page.waitForURL(/overdue=true/);
  await page.getByText(new RegExp(`of ${totalItems.toLocaleString("en")} findings$`)).waitFor();
});

describe("10 an empty match is 0, not the organization's total", () => {
  const digits = (page: Page) =>
    Promise.all(
      ["instances", "databases", "alerts"].map((name) => kpi(page, name).locator("[data-digits]").textContent()),
    );

  testLong("10 a filter that names nothing asks nothing", async () => {
    const heard = asked();
    const page = await visit("/?instanceId=", heard.visit);
    await kpi(page, "alerts").waitFor();
    expect(await digits(page)).toEqual(["0", "0", "0"]);
    for (const title of titles) await tile(page, title).getByText("No instance matches this filter").waitFor();
    await digest(page).getByText("No instance matches this filter").waitFor();
    await kpi(page, "connections").getByText("0 total, 0 idle in transaction").waitFor();
    // The menu counts servers that are down, whatever the filter.
    const measured = heard.all.filter((url) =>
      /^\/api\/v1\/(metrics|alerts)|overview\?/.test(url.pathname + url.search),
    );
    expect(measured.map(String)).toEqual([]);
  });

  testLong("10 a filter that nobody answers to is 0", async () => {
    const page = await visit("/?instanceId=0199f0c1-0000-7000-8000-000000000000");
    await kpi(page, "alerts").waitFor();
    expect(await digits(page)).toEqual(["0", "0", "0"]);
    await kpi(page, "connections").getByText("Not known: no server here is measured for connections").waitFor();
  });
});

/** seen has the page be looked at, or hidden. */
const seen = (page: Page, state: "visible" | "hidden") =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  }, state);

testLong("11 connections: active, idle, waiting, total and the time of the sample", async () => {
  let age = 6_000;
  let partialEngines: string[] = [];
  const page = await visit("/", {
    before: async (page) => {
      await page.clock.install();
      await answering(page, "/api/v1/metrics/connections", () => ({
        asOf: new Date().toISOString(),
        sampledAt: new Date(Date.now() - age).toISOString(),
        total: 1312,
        active: 41,
        idle: 1254,
        waiting: 9,
        idleInTransaction: 6,
        other: 2,
        engines: [],
        partialEngines,
      }));
    },
  });
  const card = kpi(page, "connections");
  for (const [name, value] of Object.entries({ active: "41", idle: "1,254", waiting: "9" })) {
    expect(await card.locator("dt", { hasText: name }).locator("xpath=following-sibling::dd").textContent()).toBe(
      value,
    );
  }
  await card.getByText("1,312 total, 6 idle in transaction, 2 other").waitFor();
  await card.getByText(/^sampled ([6-9]|[1-3]\d) s ago$/).waitFor();
  expect(await card.getByText("stale").count()).toBe(0);
  // That a hidden page has not asked for minutes does not make the sample stale: the server's word does.
  await seen(page, "hidden");
  await page.clock.fastForward(150_000);
  await card.getByText("sampled 2 min ago").waitFor();
  expect(await card.getByText("stale").count()).toBe(0);
  age = 150_000;
  partialEngines = ["sqlserver"];
  await seen(page, "visible");
  await card.getByText("stale", { exact: true }).waitFor();
  await card.getByText("1,312 total, 6 idle in transaction, 2 other; SQL Server in part").waitFor();
});

/** statusesOf notes what the server answers to some paths; what the browser makes of a 304 is a 200 to the page. */
async function statusesOf(page: Page, paths: string[]) {
  const asked = new Set<string>();
  const codes = new Map<string, number>();
  const devtools = await page.context().newCDPSession(page);
  devtools.on("Network.requestWillBeSent", ({ requestId, request }) => {
    if (paths.includes(new URL(request.url).pathname)) asked.add(requestId);
  });
  devtools.on("Network.responseReceivedExtraInfo", ({ requestId, statusCode }) => codes.set(requestId, statusCode));
  await devtools.send("Network.enable");
  return { since: () => asked.clear(), all: () => [...asked].map((id) => codes.get(id)) };
}

testLong(
  "11 what is so now is read again every 30 s, and the page as it is told; not in a hidden tab, and at once on the way back",
  async () => {
    const heard = asked();
    const page = await visit("/?range=1h", {
      before: async (page) => {
        // All windows end in the past: what is measured meanwhile changes no answer.
        await page.clock.install({ time: Date.now() - 900_000 });
        await watchAnswers(page);
        await heard.visit.before?.(page);
      },
    });
    await drawn(page);
    // The marks of alerts are asked for behind the charts.
    await soon(() => heard.of("/api/v1/alerts").some((url) => url.searchParams.get("pageSize") === "100")).toBe(true);
    const later = (await page.evaluate(() => Date.now())) + 60_000;
    await takenIn(page); // what is asked after this moment has its deadline after that
    await page.clock.pauseAt(later);
    await takenIn(page);
    const now = ["/api/v1/health-checks/overview", "/api/v1/metrics/connections"];
    const count = () => now.map((path) => heard.of(path).length);
    // The menu and the card of servers that are not up ask for these too, each from its own first time.
    const shared = () => ["/api/v1/alerts", "/api/v1/instances"].map((path) => heard.of(path).length);
    const before = count();
    const windowed = () => titles.map((title) => heard.of(tilePaths[title]).length);
    const tiles = windowed();
    const more = (n: number) => before.map((of) => of + n);
    const askedFirst = shared();
    const pass = async (seconds: number) => {
      await page.clock.runFor(seconds * 1_000);
      await takenIn(page);
    };
    await pass(29);
    expect(count()).toEqual(before);
    await pass(2);
    expect(count()).toEqual(more(1));
    const askedThen = shared();
    expect(askedThen.every((n, at) => n > (askedFirst[at] ?? 0))).toBe(true);
    await seen(page, "hidden");
    await pass(90);
    expect(count()).toEqual(more(1));
    expect(shared()).toEqual(askedThen);
    await seen(page, "visible");
    await takenIn(page);
    expect(count()).toEqual(more(2));
    await pass(29);
    expect(count()).toEqual(more(2));
    expect(windowed(), "tiles move on Refresh alone").toEqual(tiles);

    // The same page, read anew by itself.
    const measured = titles.slice(1).map((title) => tilePaths[title]);
    const statuses = await statusesOf(page, measured);
    const windows = () => measured.map((path) => heard.of(path).at(-1)?.search);
    const asks = () => measured.map((path) => heard.of(path).length);
    const first = windows();
    await page.getByRole("button", { name: "Live: off" }).click();
    await pass(1);
    await page.getByRole("menuitemradio", { name: "Every 30 seconds" }).click();
    await page.waitForURL((url) => url.searchParams.get("refresh") === "30s");
    await pass(1);
    const second = windows();
    expect(second, "due at once").not.toEqual(first);
    const since = asks();
    statuses.since();
    await pass(30);
    expect(asks(), "asked again").toEqual(since.map((n) => n + 1));
    expect(windows(), "the same until a minute has passed").toEqual(second);
    await soon(statuses.all, "what the browser has is not sent again").toEqual([304, 304, 304]);
    await pass(30);
    expect(windows(), "a minute on").not.toEqual(second);
    await seen(page, "hidden");
    const hidden = asks();
    await pass(90);
    expect(asks(), "a hidden tab asks nothing").toEqual(hidden);
    await seen(page, "visible");
    await pass(1);
    expect(asks(), "looked at again, at once").toEqual(hidden.map((n) => n + 1));
  },
);

test("12 KPI click-through keeps scope", async () => {
  const chosen = await two();
  const page = await visit(`/?range=1h&${filter(chosen)}`);
  const figure = kpi(page, "alerts").locator("[data-digits]");
  expect(Number(await figure.textContent())).toBeGreaterThan(0);
  await kpi(page, "alerts").click();
  await page.waitForURL((url) => url.pathname === "/alerts");
  const query = new URL(page.url()).searchParams;
  expect(query.get("status")).toBe("open");
  expect(query.get("muted")).toBe("exclude");
  expect(query.getAll("instanceId").sort()).toEqual(chosen.map(({ id }) => id).sort());
  expect([query.get("range"), query.get("from"), query.get("to")]).toEqual([null, null, null]);
  // The demo goes on meanwhile: each page has a figure of its time, and they agree where none came between.
  await expect
    .poll(
      async () => {
        await page.goto(`/?range=1h&${filter(chosen)}`);
        const shown = await figure.textContent();
        await kpi(page, "alerts").click();
        return (await page.getByText(/of \d+ alerts/).textContent())?.includes(`of ${shown} alerts`);
      },
      { timeout: 30_000 },
    )
    .toBe(true);
});

testLong("18 alert history before monitoring started is a gap with a marker", async () => {
  const page = await visit("/?from=2026-11-19T04:00:00Z&to=2026-11-19T08:00:00Z", {
    before: (page) =>
      answering(page, tilePaths["Alert history"], (body: { bucketStarts: string[] }) => ({
        ...body,
        monitoringStartedAt: "2026-11-19T06:12:44Z",
        // zeros all along: those from before the start are not to be believed
        series: { active: body.bucketStarts.map(() => 0), resolved: body.bucketStarts.map(() => 0) },
      })),
  });
  const history = tile(page, "Alert history");
  await plot(page, "Alert history").waitFor();
  const label = history.locator(".chart-marker > span").first();
  await label.getByText("monitoring started 19 Nov 06:12").waitFor();
  // Where half of the plot is narrower than the label, it ends at the axis and hides no tick.
  await page.setViewportSize({ width: 320, height: 900 });
  const over = history.locator(".u-over").first();
  await soon(async () => (await over.boundingBox())?.width ?? 999).toBeLessThan(260);
  const inside = async () => ((await label.boundingBox())?.x ?? 0) - ((await over.boundingBox())?.x ?? 999);
  await soon(inside).toBeGreaterThanOrEqual(-1);
  await page.evaluate(() => {
    const held = { text: "" };
    Object.assign(window, { held });
    navigator.clipboard.writeText = async (text) => {
      held.text = text;
    };
  });
  await choose(history, "Copy as CSV");
  const held = () => page.evaluate(() => (window as unknown as { held: { text: string } }).held.text);
  await soon(held).not.toBe("");
  const rows = (await held()).trim().split(/\r?\n/).slice(1);
  const values = new Map(rows.map((row) => [row.split(",")[0]?.slice(11, 16), row.split(",").slice(1).join()]));
  expect(values.get("06:11")).toBe(",");
  expect(values.get("06:12")).toBe("0,0");
});

/** choose opens a tile's menu and takes an entry. */
async function choose(tile: Locator, entry: string) {
  await tile.getByRole("button", { name: /: more$/ }).click();
  await tile.page().getByRole("menuitem", { name: entry }).click();
}

/** held keeps the requests of a path back until they are let go. */
async function hold(page: Page, matches: (url: URL) => boolean): Promise<() => void> {
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(matches, async (route: Route) => {
    await gate;
    await route.continue().catch(() => {});
  });
  return letGo;
}

/** notUp is what is said of a server that is down, in both answers that name it. */
const notUp = {
  status: "down",
  statusSince: new Date(Date.now() - 9 * 60_000).toISOString(),
  statusReason: {
    code: "57P01",
    sentence:
      "Connection refused at db04:5432. Its last words: 57P01 terminating connection due to administrator command.",
    seen: "Connection refused at db04:5432.",
    said: { code: "57P01", words: "terminating connection due to administrator command", last: true },
  },
  triedAt: new Date().toISOString(),
};

type Server = { id: string; status: string };

/** listing answers for lists of servers, once they are let go, with some of them down. */
const listing = (page: Page, letGo: Promise<void>, down: (servers: Server[]) => Server[]) =>
  page.route(
    (url) => url.pathname === "/api/v1/instances",
    async (route: Route) => {
      await letGo;
      const answer = await route.fetch();
      const list = (await answer.json()) as { items: Server[] };
      await route.fulfill({ response: answer, json: { ...list, items: down(list.items) } });
    },
  );

/**
 * downFrom makes one of the demo's servers down and all others up, for the page alone: in the session, and in the
 * lists once they are let go. Other tests stop servers of the same demo meanwhile.
 */
async function downFrom(page: Page, letGo: Promise<void>) {
  const down = (servers: Server[]) =>
    servers.map((i, at) =>
      at === 3 ? { ...i, ...notUp } : i.status === "inactive" ? i : { ...i, status: "up" as const },
    );
  const listed = await apiAs("admin", "GET", "/api/v1/instances?pageSize=200");
  const named = down(((await listed.json()) as { items: Server[] }).items).filter((i) => i.status === "down");
  await answering(page, "/api/v1/session", (session: { servers: { states: object } }) => ({
    ...session,
    servers: { states: { ...session.servers.states, down: named.length, silent: 0, unknown: 0 }, notUp: named },
  }));
  await listing(page, letGo, down);
}

describe("20 skeleton first, then the old data", () => {
  test("20 the first load moves nothing, also where a server is down", async () => {
    let letGo = () => {};
    let letListsGo = () => {};
    const page = await visit("/", {
      before: async (page) => {
        await page.addInitScript(() => {
          const sum = { shift: 0 };
          Object.assign(window, { sum });
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) {
              const shift = entry as PerformanceEntry & { value: number; hadRecentInput: boolean };
              if (!shift.hadRecentInput) sum.shift += shift.value;
            }
          }).observe({ type: "layout-shift", buffered: true });
        });
        letGo = await hold(page, (url) => /^\/api\/v1\/(metrics|alerts|health-checks)/.test(url.pathname));
        const lists = new Promise<void>((resolve) => {
          letListsGo = resolve;
        });
        await downFrom(page, lists);
      },
    });
    await tile(page, "Utilization").locator(".mantine-Skeleton-root").waitFor();
    expect(await tile(page, "Utilization").getAttribute("aria-busy")).toBe("true");
    const trouble = page.getByRole("region", { name: "Servers that are not up" });
    expect(await trouble.getByRole("heading", { name: /is down/ }).count()).toBe(1);
    await page.evaluate(() => document.fonts.ready);
    const before = await tile(page, "Utilization").boundingBox();
    letGo();
    letListsGo();
    await drawn(page);
    expect(await page.evaluate(() => (window as unknown as { sum: { shift: number } }).sum.shift)).toBeLessThan(0.05);
    const after = await tile(page, "Utilization").boundingBox();
    expect(Math.abs((after?.height ?? 0) - (before?.height ?? 0))).toBeLessThan(8);
    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(8);
  });

  testLong("20 a skeleton stands still for whoever asks for less motion", async () => {
    const page = await visit("/", {
      before: (page) => hold(page, (url) => url.pathname.startsWith("/api/v1/metrics")),
    });
    await tile(page, "Utilization").locator(".mantine-Skeleton-root").waitFor();
    const moving = () =>
      page.evaluate(() => document.getAnimations().filter((animation) => animation instanceof CSSAnimation).length);
    expect(await moving()).toBe(0);
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await soon(moving).toBeGreaterThan(0);
  });

  test("20 Refresh keeps the old chart until the new one is there", async () => {
    const page = await visit("/?range=1h");
    await drawn(page);
    const old = await plot(page, "Utilization").elementHandle();
    const letGo = await hold(page, (url) => url.pathname === tilePaths.Utilization);
    await refresh(page);
    await tile(page, "Utilization").locator("[data-progress]").waitFor({ state: "attached" });
    expect(await tile(page, "Utilization").getAttribute("aria-busy")).toBe("true");
    expect(await old?.evaluate((canvas) => canvas.isConnected)).toBe(true);
    expect(await tile(page, "Utilization").locator(".mantine-Skeleton-root").count()).toBe(0);
    letGo();
    await soon(() => tile(page, "Utilization").getAttribute("aria-busy")).toBe("false");
    expect(await tile(page, "Utilization").locator("[data-progress]").count()).toBe(0);
    await plot(page, "Utilization").waitFor();
  });
});

test("21 one tile fails alone", async () => {
  let broken = true;
  const heard = asked();
  const page = await visit("/", {
    expected: [/500/],
    before: async (page) => {
      await heard.visit.before?.(page);
      await page.route(
        (url) => url.pathname === tilePaths.Utilization,
        (route) =>
          broken
            ? route.fulfill({
                status: 500,
                contentType: "application/problem+json",
                body: JSON.stringify({
                  title: "Internal error",
                  status: 500,
                  code: "internal_error",
                  detail: "Something failed on our side.",
                  requestId: "7QWERTY7",
                }),
              })
            : route.continue(),
      );
    },
  });
  const failed = tile(page, "Utilization");
  await failed.getByText("Something failed on our side.").waitFor();
  await failed.getByText("Request 7QWERTY7").waitFor();
  await failed.getByRole("heading", { name: "Utilization" }).waitFor();
  for (const title of titles.filter((t) => t !== "Utilization")) await plot(page, title).waitFor();
  await digest(page).getByRole("listitem").first().waitFor();
  const before = heard.all.map((url) => url.pathname);
  broken = false;
  await failed.getByRole("button", { name: "Retry" }).click();
  await plot(page, "Utilization").waitFor();
  const current = /overview|connections|alerts$|instances$|exports|contributors$|notifications$/;
  const since = heard.all.slice(before.length).map((url) => url.pathname);
  const again = since.filter((path) => before.includes(path)); // what is asked for first may come late
  expect(again.filter((path) => !current.test(path))).toEqual([tilePaths.Utilization]);
});

testLong("21 what fails later keeps what it showed, and says so", async () => {
  const failing = [tilePaths.Utilization, "/api/v1/metrics/connections", "/api/v1/health-checks/overview"];
  let broken = false;
  const page = await visit("/?range=1h", {
    expected: [/500/],
    before: (page) =>
      page.route(
        (url) => broken && failing.includes(url.pathname),
        (route) => route.fulfill({ status: 500, json: { status: 500, detail: "Something failed on our side." } }),
      ),
  });
  await drawn(page);
  const digits = () => kpi(page, "alerts").locator("[data-digits]").textContent();
  const before = await digits();
  broken = true;
  await refresh(page);
  for (const what of [
    "Utilization could not be loaded",
    "Connections could not be",
    "Instances, databases and alerts",
  ]) {
    await page.getByRole("alert").filter({ hasText: what }).filter({ hasText: "again" }).waitFor();
  }
  expect(await plot(page, "Utilization").isVisible()).toBe(true);
  expect(await kpi(page, "connections").getByText("total").isVisible()).toBe(true);
  expect(await digits()).toBe(before);
  broken = false;
  await tile(page, "Utilization").getByRole("button", { name: "Retry" }).click();
  await tile(page, "Utilization").getByRole("alert").waitFor({ state: "hidden" });
});

type Hosts = { bucketStarts: string[]; series: Record<string, (number | null)[]> };

describe("22 the empty state explains, and numbers can be had", () => {
  const empty = (page: Page) =>
    answering(page, tilePaths.Utilization, (body: Hosts) => ({
      ...body,
      hostCount: 0,
      series: Object.fromEntries(Object.entries(body.series).map(([key, values]) => [key, values.map(() => null)])),
    }));

  test("22 a window without data leads to one that may have some", async () => {
    const page = await visit("/?range=1h", { before: empty });
    const utilization = tile(page, "Utilization");
    await utilization.getByText("No data in this window").waitFor();
    expect(await utilization.locator("canvas").count()).toBe(0);
    await utilization.getByRole("link", { name: "Show the last 24 hours" }).click();
    await page.waitForURL((url) => url.searchParams.get("range") === "24h");
    await utilization.getByRole("link", { name: "Connect an agent" }).waitFor();
  });

  testLong("22 who may not connect an agent is told who may", async () => {
    const page = await visit("/", { as: "viewer", before: empty });
    await tile(page, "Utilization").getByText("An administrator can connect an agent.").waitFor();
    expect(await tile(page, "Utilization").getByRole("link").count()).toBe(0);
  });

  testLong("22 a tile as a table and as CSV has the chart's numbers", async () => {
    const page = await visit("/?from=2026-11-19T04:00:00Z&to=2026-11-19T04:03:00Z", {
      permissions: ["clipboard-read", "clipboard-write"],
      before: (page) =>
        answering(page, tilePaths.Utilization, (body: Hosts) => ({
          ...body,
          series: { cpuPercent: [41.25, null, 0], memoryPercent: [63, 63, 63], diskPercent: [91.7, 91.7, 92] },
        })),
    });
    const utilization = tile(page, "Utilization");
    await plot(page, "Utilization").waitFor();
    await choose(utilization, "Show as table");
    const table = utilization.getByRole("table");
    await table.waitFor();
    expect(await utilization.locator("canvas").count()).toBe(0);
    const rows = await table.locator("tbody tr").allTextContents();
    expect(rows).toHaveLength(3);
    // the latest first
    expect(rows[0]).toMatch(/04:020 %63 %92 %$/);
    expect(rows[1]).toMatch(/04:01no data63 %91\.7 %$/);
    expect(rows[2]).toMatch(/04:0041\.3 %63 %91\.7 %$/);
    await choose(utilization, "Copy as CSV");
    await page.getByText("Utilization copied to the clipboard as CSV.").waitFor();
    const csv = await page.evaluate(() => navigator.clipboard.readText());
    expect(csv).toMatch(/CPU.*Memory.*Disk/);
    expect(csv).toMatch(/04:00:00.*,41\.25,63,91\.7/);
    expect(csv).toMatch(/04:01:00.*,,63,91\.7/);
    await choose(utilization, "Show as chart");
    await plot(page, "Utilization").waitFor();
  });
});

test("23 the digest never shows an unfiltered list, also where a server is down", async () => {
  const chosen = await two();
  const heard = asked();
  let letGo = () => {};
  const page = await visit(`/?${filter(chosen)}`, {
    before: async (page) => {
      await heard.visit.before?.(page);
      const lists = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      await listing(page, lists, (servers) => servers.map((i) => (i.id === chosen[0]?.id ? { ...i, ...notUp } : i)));
    },
  });
  for (const title of titles.slice(1)) await plot(page, title).waitFor();
  await kpi(page, "connections").getByText("total").waitFor();
  await digest(page).getByRole("status", { name: "Loading alerts" }).waitFor();
  const ofAlerts = () => heard.all.filter((url) => url.pathname.startsWith("/api/v1/alerts"));
  expect(ofAlerts().map(String)).toEqual([]);
  letGo();
  await digest(page).getByRole("listitem").first().waitFor();
  await page.getByRole("region", { name: "Servers that are not up" }).waitFor();
  await soon(() => heard.of(`/api/v1/instances/${chosen[0]?.id}/outage`).length).toBeGreaterThan(0);
  expect(ofAlerts().length).toBeGreaterThan(0);
  for (const url of ofAlerts()) expect(url.searchParams.getAll("instanceName")).toHaveLength(2);
});

describe("24 the digest's request is exact", () => {
  /** exact is all that was asked; React's strict mode, in development, asks the same twice. */
  const exact = (urls: URL[]): Record<string, string[]> => {
    expect(new Set(urls.map(String)).size).toBe(1);
    const sent = urls[0]?.searchParams ?? new URLSearchParams();
    return Object.fromEntries([...sent.keys()].map((key) => [key, sent.getAll(key)]));
  };
  /** The marks on the charts ask for alerts, too. */
  const ofDigest = (urls: URL[]) =>
    urls.filter((url) => url.searchParams.get("pageSize") === "10" && url.searchParams.has("from"));
  const fixed = { pageSize: ["10"], sort: ["-lastTriggeredAt"], status: ["all"] };

  test("24 a preset sends only from, and names", async () => {
    const chosen = await two();
    const heard = asked();
    const page = await visit(`/?range=6h&${filter(chosen)}`, heard.visit);
    await digest(page).getByRole("listitem").first().waitFor();
    const windowed = heard.of(tilePaths.Utilization)[0]?.searchParams.get("from");
    expect(exact(ofDigest(heard.of("/api/v1/alerts")))).toEqual({
      ...fixed,
      from: [windowed],
      instanceName: chosen.map(({ name }) => name),
    });
    await digest(page).getByRole("heading", { name: "Latest 10 alerts" }).waitFor();
    for (const role of ["searchbox", "textbox", "combobox", "navigation", "button"] as const) {
      expect(await digest(page).getByRole(role).count(), role).toBe(0);
    }
  });

  testLong("24 a custom range sends both bounds, and no filter no names", async () => {
    const heard = asked();
    await visit("/?from=2026-11-19T04:00:00Z&to=2026-11-20T04:00:00Z", heard.visit);
    await soon(() => ofDigest(heard.of("/api/v1/alerts")).length).toBeGreaterThan(0);
    expect(exact(ofDigest(heard.of("/api/v1/alerts")))).toEqual({
      ...fixed,
      from: ["2026-11-19T04:00:00.000Z"],
      to: ["2026-11-20T04:00:00.000Z"],
    });
  });

  testLong("24 a name that two instances share is sent as ids", async () => {
    const chosen = await two();
    const heard = asked();
    await visit(`/?${filter(chosen)}`, {
      before: async (page) => {
        await heard.visit.before?.(page);
        await answering(page, "/api/v1/instances", (body: { items: { name: string; id: string }[] }, request) =>
          new URL(request.url()).searchParams.has("id")
            ? body
            : {
                ...body,
                items: [
                  ...body.items,
                  { ...body.items[0], id: "0199f0c1-0000-7000-8000-000000000001", name: chosen[0]?.name },
                ],
              },
        );
      },
    });
    await soon(() => ofDigest(heard.of("/api/v1/alerts")).length).toBeGreaterThan(0);
    const sent = exact(ofDigest(heard.of("/api/v1/alerts")));
    expect(sent.instanceId).toEqual(chosen.map(({ id }) => id));
    expect(sent.instanceName).toBeUndefined();
  });
});

test("25 view keeps window and scope", async () => {
  const chosen = await two();
  const page = await visit(`/?range=7d&${filter(chosen)}`);
  await digest(page).getByRole("listitem").first().waitFor();
  const links = await digest(page).getByRole("listitem").getByRole("link").all();
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) {
    const to = new URL((await link.getAttribute("href")) ?? "", page.url());
    expect(to.pathname).toMatch(/^\/alerts\/[0-9a-f-]{36}$/);
    expect(to.searchParams.get("range")).toBe("7d");
    expect(to.searchParams.getAll("instanceId")).toEqual(chosen.map(({ id }) => id));
  }
  await links[0]?.click();
  await page.waitForURL((url) => url.pathname.startsWith("/alerts/") && url.searchParams.get("range") === "7d");
});

const refused = "Connection refused at db01:5432.";

describe("the line of states", () => {
  const down = (n: number) => (page: Page) =>
    answering(page, "/api/v1/instances", (body: { items: { active: boolean; name: string }[] }) => ({
      ...body,
      items: body.items
        .filter((i) => i.active)
        .slice(0, 10)
        .map((i, at) => ({
          ...i,
          status: at < n ? "down" : "up",
          statusSince: new Date(Date.now() - 60_000 * (at + 1)).toISOString(),
          statusReason: at < n ? { code: "refused", sentence: refused, seen: refused, said: null } : null,
          lastSeenAt: new Date().toISOString(), // of no consequence
        }))
        .concat([{ ...(body.items[0] as (typeof body.items)[0]), active: false, status: "inactive" } as never]),
    }));
  const trouble = (page: Page) => page.getByRole("region", { name: "Servers that are not up" });

  test("counts only servers that are up as reporting, and each count leads to its servers", async () => {
    const page = await visit("/", { before: down(2) });
    const line = page.locator("[data-states]", { hasText: "8 of 10 active instances reporting, 1 inactive" });
    await line.waitFor();
    const link = line.getByRole("link", { name: "2 down" });
    expect(new URL((await link.getAttribute("href")) ?? "", page.url()).search).toBe("?status=down");
    await trouble(page).getByText("Connection refused at db01:5432.").first().waitFor();
    expect(await trouble(page).getByRole("heading").count()).toBe(2);
    await trouble(page)
      .getByRole("link", { name: /^Open server/ })
      .first()
      .click();
    await page.waitForURL(/\/instances\/[0-9a-f-]{36}$/);
  });

  testLong("says in one row that most of the servers are down", async () => {
    const page = await visit("/", { before: down(8) });
    await trouble(page).getByRole("heading", { name: "8 of 10 servers are down" }).waitFor();
    expect(await trouble(page).getByRole("heading").count()).toBe(1);
    expect(await violations(page)).toEqual([]);
  });

  testLong("says nothing of trouble where there is none", async () => {
    const page = await visit("/", { before: down(0) });
    await page.locator("[data-states]", { hasText: "10 of 10 active instances reporting" }).waitFor();
    expect(await trouble(page).count()).toBe(0);
  });
});

testLong("what could not be read is not available right now, and is no zero", async () => {
  const page = await visit("/", {
    before: async (page) => {
      await answering(page, tilePaths["Query performance"], (body: { series: Record<string, unknown[]> }) => ({
        ...(body as object),
        engines: [],
        incomplete: true,
        series: Object.fromEntries(Object.entries(body.series).map(([name, values]) => [name, values.map(() => null)])),
      }));
      await answering(page, tilePaths["Wait events"], (body: object) => ({ ...body, incomplete: true }));
      await answering(page, "/api/v1/metrics/connections", (body: object) => ({
        ...body,
        sampledAt: null,
        total: 0,
        active: 0,
        engines: [],
        instancesWithoutSample: null,
        incomplete: true,
      }));
      await answering(page, "/api/v1/health-checks/overview", (body: object) => ({
        ...body,
        alerts: null,
        states: null,
      }));
    },
  });
  await tile(page, "Query performance").getByText("Not available right now").waitFor();
  await tile(page, "Query performance").getByText("Incomplete: a database engine could not be read").waitFor();
  await plot(page, "Wait events").waitFor();
  await tile(page, "Wait events").getByText("Incomplete: a database engine could not be read").waitFor();
  await kpi(page, "connections").getByText("Not available right now: an engine could not be read").waitFor();
  expect(await kpi(page, "connections").getByText("0", { exact: true }).count()).toBe(0);
  await kpi(page, "alerts").getByText("not available right now").waitFor();
  expect(await kpi(page, "alerts").getAttribute("aria-label")).toBe("Alerts not available right now");
  expect(await violations(page)).toEqual([]);
});

testLong("an organization without servers is told what to do first", async () => {
  const nobody = (page: Page) =>
    answering(page, "/api/v1/instances", () => ({
      items: [],
      page: { number: 1, size: 200, totalItems: 0, totalPages: 0 },
    }));
  const page = await visit("/", { before: nobody });
  await page.getByText("No instances yet").waitFor();
  expect(await page.getByRole("link", { name: "Add an instance" }).getAttribute("href")).toBe("/instances/new");
  expect(await page.getByRole("link", { name: "Connect an agent" }).getAttribute("href")).toBe("/instances/connect");
  expect(await violations(page)).toEqual([]);
  const viewer = await visit("/", { as: "viewer", before: nobody });
  await viewer.getByText("Only an administrator can add instances").waitFor();
  expect(await viewer.getByRole("link", { name: "Add an instance" }).count()).toBe(0);
});

testLong("engines of which a part was sent are named where a line that is too long is not cut off", async () => {
  const page = await visit("/?range=6h", {
    before: async (page) => {
      await answerTrends(page, { bucketSize: "1m", partialEngines: ["postgresql"] });
    },
  });
  for (const title of ["Query performance", "Wait events"] as const) {
    const mark = page.getByRole("region", { name: title, exact: true }).locator("[data-part]");
    await mark.waitFor();
    expect(await mark.textContent()).toBe("PostgreSQL in part · ");
    const [line, end] = await mark.evaluate((node) => [
      node.parentElement?.getBoundingClientRect().right ?? 0,
      node.getBoundingClientRect().right,
    ]);
    expect(end).toBeLessThan(line as number);
  }
});
