import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { apiAs, requestsTo, serverUrl, testLong, thorough, type Visit, violations, visit } from "./browser";

const tiles = [
  "/api/v1/alerts/raised-resolved-history",
  "/api/v1/metrics/utilization",
  "/api/v1/metrics/query-performance",
  "/api/v1/metrics/wait-events",
];
/** soon waits for what is read to become what is expected, as long as a loaded machine needs. */
const soon = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 12_000 });
const filter = (page: Page) => page.getByRole("button", { name: /^Instances:/ });
const time = (page: Page) => page.getByRole("button", { name: /^Time:/ });
const addressOf = (page: Page) => new URL(page.url());
const idsOf = (page: Page) => addressOf(page).searchParams.getAll("instanceId");

type Instance = { id: string; name: string; engine: string };

async function instances(): Promise<Instance[]> {
  const answer = await apiAs("viewer", "GET", "/api/v1/instances?pageSize=200&sort=name");
  return ((await answer.json()) as { items: Instance[] }).items;
}

async function demoInstances(...names: string[]): Promise<string[]> {
  const all = await instances();
  return names.map((name) => all.find((i) => i.name === name)?.id ?? `no ${name}`);
}

/** scopeOf is what a tile is asked for: its filter, and its window's length. */
const scopeOf = (url: URL) => ({
  path: url.pathname,
  instances: [...url.searchParams.getAll("instanceId"), ...url.searchParams.getAll("instanceName")].sort(),
  length: Date.parse(url.searchParams.get("to") ?? "") - Date.parse(url.searchParams.get("from") ?? ""),
  bucketSize: url.searchParams.get("bucketSize"),
});

/** lastScopes is what the four tiles were asked for last. */
const lastScopes = (asked: URL[]) =>
  tiles.map((path) =>
    asked
      .filter((url) => url.pathname === path)
      .map(scopeOf)
      .pop(),
  );

describe("the address", () => {
  test("1 all view state is in the query string", async () => {
    const page = await visit("/");
    const asked = requestsTo(page, "/api/v1/");
    await time(page).click();
    await page.getByRole("button", { name: "Last 24 hours", exact: true }).click();
    await filter(page).click();
    for (const name of ["demo-pg-orders-01", "demo-ora-core-01"]) {
      await page.getByRole("option", { name }).click();
    }
    await page.keyboard.press("Escape");
    const chosen = await demoInstances("demo-pg-orders-01", "demo-ora-core-01");
    await soon(() => idsOf(page)).toEqual(chosen);
    expect(addressOf(page).searchParams.get("range")).toBe("24h");
    await soon(() => lastScopes(asked).map((scope) => scope?.instances.length)).toEqual([2, 2, 2, 2]);
    expect(lastScopes(asked)[1]).toEqual({
      path: "/api/v1/metrics/utilization",
      instances: [...chosen].sort(),
      length: 86_400_000,
      bucketSize: "1m",
    });

    const other = await visit("about:blank");
    const again = requestsTo(other, "/api/v1/");
    await other.goto(addressOf(page).pathname + addressOf(page).search);
    await soon(() => filter(other).textContent()).toMatch(/^2 of \d+$/);
    expect(await time(other).textContent()).toContain("Last 24 hours");
    await soon(() => lastScopes(again)).toEqual(lastScopes(asked));
  });

  testLong("2 presets stay relative, custom stays fixed", async () => {
    const frozen = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000);
    const at = (minutes: number) => new Date(frozen.getTime() + minutes * 60_000).toISOString();
    const page = await visit("/?range=1h", { before: (fresh) => fresh.clock.setFixedTime(frozen) });
    await page.locator("[data-chart]").first().waitFor();
    await page.clock.setFixedTime(at(10));
    const asked = requestsTo(page, "/api/v1/metrics/utilization");
    await page.getByRole("button", { name: "Refresh" }).click();
    await soon(() => asked.map((url) => url.searchParams.get("to"))).toEqual([at(10)]);
    expect(asked[0]?.searchParams.get("from")).toBe(at(-50));
    const step = (name: string) => page.getByRole("button", { name: `${name} by a window` });
    const bounds = () => ["range", "from", "to"].map((name) => addressOf(page).searchParams.get(name));
    expect(await step("Forward").getAttribute("aria-disabled")).toBe("true");
    await step("Back").click();
    await soon(bounds).toEqual([null, at(-110), at(-50)]);
    await step("Back").click();
    await soon(bounds).toEqual([null, at(-170), at(-110)]);
    await step("Forward").click();
    await soon(bounds).toEqual([null, at(-110), at(-50)]);
    await step("Forward").click();
    await soon(bounds).toEqual(["1h", null, null]);

    const custom = `?from=${at(-120)}&to=${at(-60)}`;
    const fixed = await visit(`/${custom}`, { before: (fresh) => fresh.clock.setFixedTime(frozen) });
    // A tile that is being read is not read again.
    await soon(() => fixed.locator("[data-chart]").count()).toBe(4);
    await fixed.clock.setFixedTime(at(10));
    const again = requestsTo(fixed, "/api/v1/metrics/utilization");
    await fixed.getByRole("button", { name: "Refresh" }).click();
    await soon(() => again.length).toBe(1);
    expect([again[0]?.searchParams.get("from"), again[0]?.searchParams.get("to")]).toEqual([at(-120), at(-60)]);
    expect(addressOf(fixed).searchParams.get("from")).toBe(at(-120));
  });

  test("2 a custom range is checked, then applied", async () => {
    const page = await visit("/alerts");
    await time(page).click();
    await page.getByLabel("From").fill("2026-11-19T06:00");
    await page.getByLabel("To", { exact: true }).fill("2026-11-19T06:00");
    await page.getByRole("button", { name: "Apply" }).click();
    const to = page.getByLabel("To", { exact: true });
    await page.getByText("The end must be after the start.").waitFor();
    expect(await to.getAttribute("aria-invalid")).toBe("true");
    expect(await to.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.getByLabel("From").fill("2025-11-19T06:00");
    await page.getByLabel("To", { exact: true }).fill("2025-11-20T11:37");
    await page.getByRole("button", { name: "Apply" }).click();
    await soon(() => addressOf(page).searchParams.get("from")).toBe("2025-11-19T06:00:00.000Z");
    expect(addressOf(page).searchParams.get("to")).toBe("2025-11-20T11:37:00.000Z");
    await soon(() => time(page).textContent()).toContain("19 Nov 2025, 06:00 – 20 Nov 2025, 11:37");
  });

  testLong("5 copy link offers this exact window", async () => {
    const page = await visit("/?range=6h", { permissions: ["clipboard-read", "clipboard-write"] });
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("menuitem", { name: "Copy link" }).click();
    await page.getByText("Link copied").waitFor();
    expect(await clipboard()).toBe(page.url());
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("menuitem", { name: "Copy fixed link" }).click();
    await soon(clipboard).toContain("from=");
    const fixed = new URL(await clipboard());
    expect(fixed.searchParams.has("range")).toBe(false);
    expect(scopeOf(fixed).length).toBe(6 * 3_600_000);
    expect(addressOf(page).search).toBe("?range=6h");
    // It is an address that the page takes.
    await page.goto(fixed.href);
    await soon(() => time(page).textContent()).toMatch(/ – /);
    expect(addressOf(page).searchParams.get("from")).toBe(fixed.searchParams.get("from"));
  });
});

describe("6 the instance filter", () => {
  test("6 searches, toggles with Space, counts, clears", async () => {
    const page = await visit("/");
    await filter(page).click();
    const field = page.getByRole("combobox", { name: "Instances" });
    await field.fill("ORDERS");
    await soon(() => page.getByRole("option").count()).toBe(2);
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await soon(() => page.getByRole("option", { selected: true }).count()).toBe(2);
    const before = await page.evaluate(() => history.length);
    await page.keyboard.press("Escape");
    await soon(() => filter(page).textContent()).toMatch(/^2 of \d+$/);
    await soon(() => filter(page).evaluate((button) => button === document.activeElement)).toBe(true);
    expect(idsOf(page)).toEqual(await demoInstances("demo-pg-orders-01", "demo-pg-orders-02"));
    // One choice, however many toggles, is one entry of the history.
    await page.goBack();
    await soon(() => addressOf(page).search).toBe("");
    expect(await page.evaluate(() => history.length)).toBe(before);
    await page.goForward();
    await soon(() => idsOf(page).length).toBe(2);
    await filter(page).click();
    await page.getByRole("button", { name: "Clear" }).click();
    await soon(() => addressOf(page).search).toBe("");
    await soon(() => filter(page).textContent()).toBe("All instances");
    // Clear is of no use any more, and the keys still work.
    await page.keyboard.press("Escape");
    await soon(() => page.getByRole("listbox", { name: "Instances" }).count()).toBe(0);
    await soon(() => filter(page).evaluate((button) => button === document.activeElement)).toBe(true);
  });

  testLong("6 finds instances by their engine", async () => {
    const page = await visit("/");
    await filter(page).click();
    await page.getByRole("combobox", { name: "Instances" }).fill("oracle");
    await soon(() => page.getByRole("option").count()).toBe(
      (await instances()).filter((i) => i.engine === "oracle").length,
    );
  });

  test("6 keeps an unknown id, and says so", async () => {
    const [known] = await demoInstances("demo-pg-orders-01");
    const unknown = "00000000-0000-4000-8000-000000000000";
    const page = await visit("about:blank");
    const asked = requestsTo(page, "/api/v1/metrics/utilization");
    await page.goto(`/?instanceId=${known}&instanceId=${unknown}`);
    await page.getByText("1 unknown instance in the filter").waitFor();
    await soon(() => asked[0]?.searchParams.getAll("instanceId").sort()).toEqual([unknown, known]);
    expect(idsOf(page)).toEqual([known, unknown]);
  });

  test("6 drops a malformed id, and never widens", async () => {
    const [known] = await demoInstances("demo-pg-orders-01");
    const page = await visit(`/?instanceId=nonsense&instanceId=${known}`);
    await page.getByText("instanceId “nonsense”").waitFor();
    await soon(() => idsOf(page)).toEqual([known]);
    await soon(() => filter(page).textContent()).toBe("demo-pg-orders-01");

    const empty = await visit("about:blank");
    const asked = [...tiles, "/api/v1/health-checks", "/api/v1/metrics", "/api/v1/alerts"].map((path) =>
      requestsTo(empty, path),
    );
    await empty.goto("/?instanceId=nonsense");
    await empty.getByText("instanceId “nonsense”").waitFor();
    await soon(() => addressOf(empty).search).toBe("?instanceId=");
    await soon(() => filter(empty).textContent()).toBe("No instance matches");
    await empty.getByText("No instance matches this filter").first().waitFor();
    const down = (url: URL) => url.pathname.endsWith("/overview") && url.search === ""; // the menu's, whatever the filter
    expect(
      asked
        .flat()
        .filter((url) => !down(new URL(String(url))))
        .map(String),
    ).toEqual([]);
  });

  test("6 searches on the server where not all are in the browser", async () => {
    const page = await visit("/alerts", {
      before: async (fresh) => {
        await fresh.route(/\/api\/v1\/instances\?/, async (route) => {
          const url = new URL(route.request().url());
          const q = url.searchParams.get("q") ?? "server";
          const items = [
            { id: "0193a1b2-0000-7000-8000-00000000000a", name: `${q}-0001`, engine: "mysql", active: true },
          ];
          await route.fulfill({ json: { items, page: { number: 1, size: 200, totalItems: 901, totalPages: 5 } } });
        });
      },
    });
    await filter(page).click();
    await page.getByRole("option", { name: "server-0001" }).waitFor();
    await page.getByRole("combobox", { name: "Instances" }).fill("far");
    await page.getByRole("option", { name: "far-0001" }).click();
    await soon(() => page.getByText("1 of 901 chosen").count()).toBe(1);
  });
});

describe("going to and fro", () => {
  test("7 state survives navigation and Back", async () => {
    const [known] = await demoInstances("demo-mssql-erp-01");
    const page = await visit(`/?range=30d&instanceId=${known}`, { viewport: { width: 1320, height: 500 } });
    const row = page.locator('main a[href^="/alerts/"]').last();
    await row.scrollIntoViewIfNeeded();
    const href = await row.getAttribute("href");
    // Not before the tiles have their final height.
    await soon(() => page.locator("[data-chart]").count()).toBe(4);
    await soon(() => page.locator('main [aria-busy="true"]').count()).toBe(0);
    await row.scrollIntoViewIfNeeded();
    const scroll = await page.evaluate(() => window.scrollY);
    expect(scroll).toBeGreaterThan(100);
    await row.click();
    await soon(() => addressOf(page).pathname).toMatch(/^\/alerts\/.+/);
    expect(addressOf(page).searchParams.get("range")).toBe("30d");
    expect(idsOf(page)).toEqual([known]);
    await soon(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
    await page.goBack();
    await soon(() => page.evaluate(() => document.activeElement?.getAttribute("href"))).toBe(href);
    await soon(() => page.evaluate(() => Math.round(window.scrollY))).toBe(Math.round(scroll));
    expect(await time(page).textContent()).toContain("Last 30 days");
    await soon(() => filter(page).textContent()).toBe("demo-mssql-erp-01");
  });

  testLong("7 the scope comes back from pages without one", async () => {
    const page = await visit("/?range=7d&refresh=1m&compare=previous&hide=cpuPercent&hide=other");
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Reports" }).click();
    await soon(() => addressOf(page).pathname).toBe("/reports");
    await soon(() => filter(page).count()).toBe(0);
    await page.getByRole("link", { name: "Alerts" }).first().click();
    await soon(() => addressOf(page).pathname + addressOf(page).search).toBe("/alerts?range=7d&refresh=1m");
    // What is the dashboard's alone comes back to it.
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Overview" }).click();
    await soon(() => addressOf(page).pathname).toBe("/");
    expect([...addressOf(page).searchParams].sort()).toEqual([
      ["compare", "previous"],
      ["hide", "cpuPercent"],
      ["hide", "other"],
      ["range", "7d"],
      ["refresh", "1m"],
    ]);
  });

  test("8 a drag on a chart zooms all four and pushes one entry", async () => {
    const page = await visit("/?range=6h");
    await soon(() => page.locator("[data-chart]").count()).toBe(4);
    const plot = page.locator("[data-chart] .u-over").nth(1);
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    if (!box) throw new Error("the chart has no plot");
    const entries = await page.evaluate(() => history.length);
    const asked = tiles.map((path) => requestsTo(page, path));
    await page.mouse.move(box.x + box.width * 0.3, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await soon(() => addressOf(page).searchParams.get("from")).not.toBeNull();
    const { from, to } = Object.fromEntries(addressOf(page).searchParams);
    // What the query tile says of coverage is asked for behind it, below its path.
    const drawn = () => asked.map((urls, i) => urls.filter((url) => url.pathname === tiles[i]));
    await soon(() => drawn().map((urls) => urls.length)).toEqual([1, 1, 1, 1]);
    for (const [url] of drawn()) {
      expect([url?.searchParams.get("from"), url?.searchParams.get("to")]).toEqual([from, to]);
    }
    expect(await time(page).textContent()).toMatch(/ – /);
    expect(await page.evaluate(() => history.length)).toBe(entries + 1);
    await page.goBack();
    await soon(() => addressOf(page).search).toBe("?range=6h");
    await soon(() => time(page).textContent()).toContain("Last 6 hours");
  });
});

describe("40 the keyboard", () => {
  testLong("40 ? lists the shortcuts, and they can be turned off", async () => {
    const page = await visit("/alerts");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("?");
    const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await list.waitFor();
    for (const keys of ["?", "r", "t", "f", "/", "g then d"]) {
      await list.getByRole("row").filter({ hasText: keys }).first().waitFor();
    }
    await page.keyboard.press("r");
    await list.getByRole("switch", { name: "Single-key shortcuts" }).click();
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "hidden" });
    await page.keyboard.press("?");
    await page.keyboard.press("f");
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("?");
    expect(await page.getByRole("dialog").count()).toBe(0);
    // The list is still there, and turns them on again.
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Keyboard shortcuts" }).click();
    await list.getByRole("switch", { name: "Single-key shortcuts" }).click();
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "hidden" });
    await page.keyboard.press("?");
    await list.waitFor();
  });

  test("40 what is typed after a shortcut's key opens no other page, and what opens has the keys once it is seen", async () => {
    const page = await visit("/alerts");
    await page.locator('main a[href^="/alerts/"]').first().waitFor();
    // Keys that come before the next frame, as on a slow machine; and whether the field has them once it is seen.
    const typed = (keys: string, first: string) =>
      page.evaluate(
        async ([keys, first]) => {
          const seen = new Promise<boolean>((resolve) => {
            const watch = new MutationObserver(() => {
              const it = document.querySelector(first as string);
              if (it) resolve(it === document.activeElement);
            });
            watch.observe(document.body, { childList: true, subtree: true });
          });
          for (const key of keys as string) {
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
            await Promise.resolve();
          }
          return seen;
        },
        [keys, first],
      );
    for (const [keys, first] of [
      ["fgd", '[role="combobox"][aria-autocomplete="list"]'],
      ["tgd", '.presets [aria-pressed="true"]'],
    ] as const) {
      expect(await typed(keys, first), keys).toBe(true);
      expect(addressOf(page).pathname).toBe("/alerts");
      await page.keyboard.press("Escape");
      await page.locator(first).waitFor({ state: "hidden" });
    }
    await page.keyboard.type("gd");
    await soon(() => addressOf(page).pathname).toBe("/");
  });

  test("40 each shortcut does what it says", async () => {
    const page = await visit("/alerts");
    await page.locator('main a[href^="/alerts/"]').first().waitFor();
    const asked = requestsTo(page, "/api/v1/alerts");
    await page.keyboard.press("r");
    await soon(() => asked.length).toBe(1);
    await page.keyboard.press("t");
    await page.getByRole("button", { name: "Last 7 days", exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Last 7 days", exact: true }).waitFor({ state: "hidden" });
    await page.keyboard.press("f");
    const field = page.getByRole("combobox", { name: "Instances" });
    await field.waitFor();
    // What is typed into a field is no shortcut.
    await page.keyboard.type("gdrt?");
    expect(await field.inputValue()).toBe("gdrt?");
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "hidden" });
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press("/");
    await soon(() => page.evaluate(() => document.activeElement?.closest("[data-search]") !== null)).toBe(true);
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    for (const [keys, path] of [
      ["gd", "/"],
      ["ga", "/alerts"],
      ["gi", "/instances"],
      ["gr", "/reports"],
      ["gh", "/reports/history"],
    ] as const) {
      await page.keyboard.type(keys);
      await soon(() => addressOf(page).pathname).toBe(path);
    }
  });

  test("40 the skip link comes first and leads to the content", async () => {
    const page = await visit("/alerts");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Tab");
    const skip = page.getByRole("link", { name: "Skip to the content" });
    expect(await skip.evaluate((link) => link === document.activeElement && link.getBoundingClientRect().x >= 0)).toBe(
      true,
    );
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
    expect(addressOf(page).hash).toBe("");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true);
  });

  test("40 another page is spoken, titled, marked and focused", async () => {
    const page = await visit("/alerts");
    await page.getByRole("heading", { name: "Alerts", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Servers" }).first().click();
    await page.getByRole("heading", { name: "Instances", level: 1 }).waitFor();
    await soon(() => page.title()).toBe("Instances · Muster");
    await soon(() => page.locator("[data-route]").textContent()).toBe("Instances · Muster");
    expect(await page.locator('nav [aria-current="page"]').allTextContents()).toEqual([
      expect.stringMatching(/^Servers(\d+ down)?$/),
    ]);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
  });
});

/** noteScheme notes the scheme as it is when the body begins: before anything can be painted. */
const noteScheme = (page: Page) =>
  page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.body) return;
      observer.disconnect();
      document.documentElement.dataset.first = document.documentElement.dataset.mantineColorScheme ?? "none";
    }).observe(document, { childList: true, subtree: true });
  });

describe("40 light and dark", () => {
  test("40 the theme follows the system and persists without a flash", async () => {
    const page = await visit("/alerts", { colorScheme: "dark", before: noteScheme });
    const scheme = () => page.evaluate(() => document.documentElement.dataset.mantineColorScheme);
    const first = () => page.evaluate(() => document.documentElement.dataset.first);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect([await first(), await scheme()]).toEqual(["dark", "dark"]);
    await page.emulateMedia({ colorScheme: "light" });
    await soon(scheme).toBe("light");
    await page.getByRole("button", { name: /^Theme/ }).click();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await soon(scheme).toBe("dark");
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect([await first(), await scheme()]).toEqual(["dark", "dark"]);
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("dark");
    await page.getByRole("button", { name: /^Theme/ }).click();
    await page.getByRole("menuitemradio", { name: "Same as system" }).click();
    await soon(scheme).toBe("light");
    await page.emulateMedia({ colorScheme: "dark" });
    await soon(scheme).toBe("dark");
  });
});

describe("40 narrow and magnified", () => {
  const narrow = thorough ? [320, 360] : [320];
  const fits = ["/", "/alerts"].flatMap((address) => narrow.map((width) => [address, width] as const));
  test.each(fits)("40 %s fits into %d px without scrolling sideways", async (address, width) => {
    const page = await visit(`${address}?range=7d`, { viewport: { width, height: 640 } });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await filter(page).waitFor();
    const outside = () =>
      page.evaluate(() => {
        const width = document.documentElement.clientWidth;
        const bar = [...document.querySelectorAll("header button, header a")];
        return [
          document.documentElement.scrollWidth > width ? "the page" : "",
          ...bar.map((e) => (e.getBoundingClientRect().right > width + 0.5 ? (e.ariaLabel ?? e.textContent) : "")),
        ].filter(Boolean);
      });
    await soon(outside).toEqual([]);
    // The navigation is under the burger, and closes behind the one who has chosen.
    const nav = page.getByRole("navigation", { name: "Main" });
    expect(await nav.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Open the navigation" }).click();
    await nav.getByRole("link", { name: "Servers" }).click();
    await soon(() => nav.isVisible()).toBe(false);
  });
});

test("40 the demo says that it is one, until that is put away", async () => {
  const page = await visit("/alerts");
  const banner = page.getByText("Demo organization: all data is made up");
  await banner.waitFor();
  await page.getByRole("complementary", { name: "Demo" }).getByRole("button", { name: "Dismiss" }).click();
  await banner.waitFor({ state: "hidden" });
  await page.reload();
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await banner.count()).toBe(0);
});

const credentials = { email: "member@example.org", password: process.env.MUSTER_E2E_PASSWORD ?? "roll-call-at-dawn-7" };
const unauthorized = /status of 401/;

/** ownSession is a session of the member that no other test uses; it gives what to visit with, and its cookie. */
async function ownSession(): Promise<{ visiting: Visit; cookie: string }> {
  const answer = await fetch(`${serverUrl}/api/v1/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(credentials),
  });
  const cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const [name = "", value = ""] = cookie.split("=");
  const url = serverUrl.replace("http:", "https:");
  const before = (page: Page) =>
    page.context().addCookies([{ name, value, url, secure: true, httpOnly: true, sameSite: "Lax" }]);
  return { visiting: { as: null, before }, cookie };
}

describe("40 the session's end", () => {
  test("40 session expiry in the midst of work: sign-in dialog, then the same view", async () => {
    const { visiting, cookie } = await ownSession();
    const page = await visit("/alerts?range=7d&status=open", { ...visiting, expected: [unauthorized] });
    await page.locator('main a[href^="/alerts/"]').first().waitFor();
    const address = page.url();
    await fetch(`${serverUrl}/api/v1/session`, { method: "DELETE", headers: { Cookie: cookie } });
    await page.evaluate(() => {
      document.documentElement.dataset.same = "yes";
    });
    await page.keyboard.press("r");
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    // F28: the page stays as it is, and it is known who is to sign in.
    await page.locator('main a[href^="/alerts/"]').first().waitFor();
    expect(await page.getByText("could not be loaded").count()).toBe(0);
    expect(await dialog.getByLabel("E-mail address").inputValue()).toBe(credentials.email);
    await dialog.getByLabel("Password", { exact: true }).fill("not this one");
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.getByRole("alert").waitFor();
    const asked = requestsTo(page, "/api/v1/alerts");
    await dialog.getByLabel("Password", { exact: true }).fill(credentials.password);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "hidden" });
    await soon(() => asked.length).toBeGreaterThan(0);
    await page.locator('main a[href^="/alerts/"]').first().waitFor();
    expect(page.url()).toBe(address);
    expect(await page.evaluate(() => document.documentElement.dataset.same)).toBe("yes");
  });

  test("40 signing out ends it in every tab, and somebody else's sign-in starts afresh", async () => {
    const { visiting } = await ownSession();
    const page = await visit("/alerts", { ...visiting, expected: [unauthorized] });
    const other = await page.context().newPage();
    await other.goto("/reports");
    await other.getByRole("heading", { level: 1 }).waitFor();
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByText("Role: member").waitFor();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    for (const tab of [page, other]) await tab.getByLabel("E-mail address").waitFor();
    expect(new URL(other.url()).pathname).toBe("/reports");
    expect(await other.getByRole("dialog").count()).toBe(0);
  });

  test("40 a visitor who is not signed in meets no dialog", async () => {
    const page = await visit("/alerts", { as: null });
    await page.getByLabel("E-mail address").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});

describe("pages that are not to be had", () => {
  // F27.
  test.each(thorough ? ["/login", "/signin", "/sign-in"] : ["/login"])(
    "signing in at %s leads to the dashboard",
    async (path) => {
      const page = await visit(path);
      await soon(() => addressOf(page).pathname).toBe("/");
      await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor();
      expect(await page.getByText("this page does not exist").count()).toBe(0);
    },
  );

  test("38 a page that is not for a role explains itself", async () => {
    const page = await visit("/ops/projections", { as: "viewer" });
    await page.getByText("403: your role does not include this page").waitFor();
    await page.getByText("You are signed in as viewer.").waitFor();
    expect(await page.getByRole("navigation", { name: "Main" }).getByText("System health").count()).toBe(0);
    await page.getByRole("link", { name: "Go to the dashboard" }).click();
    await soon(() => addressOf(page).pathname).toBe("/");
  });

  test("40 a page whose code is gone after an upgrade offers to be loaded anew", async () => {
    const page = await visit("/reports", {
      expected: [/Failed to load resource/, /dynamically imported module/, /AlertsPage/],
      before: (fresh) => fresh.route("**/AlertsPage*", (route) => route.fulfill({ status: 404 })),
    });
    await page.getByRole("link", { name: "Alerts" }).first().click();
    await page.getByRole("button", { name: "Reload" }).waitFor();
    await page.unroute("**/AlertsPage*");
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { name: "Alerts", level: 1 }).waitFor();
  });
});

describe("40 the shell's states are accessible", () => {
  const states: [string, string, Visit, (page: Page) => Promise<unknown>][] = [
    ["filter open", "/alerts", {}, (page) => filter(page).click()],
    ["forbidden", "/ops/projections", { as: "viewer" }, (page) => page.getByText("403").waitFor()],
    ["lost", "/nowhere", { expected: [/status of 404/] }, (page) => page.getByText("404").waitFor()],
    ["notices", "/alerts?zone=UTC&instanceId=x", {}, (page) => page.getByText("instanceId “x”").waitFor()],
  ];
  const further: typeof states = [
    ["window open", "/?range=7d&compare=previous&refresh=1m", {}, (page) => time(page).click()],
    ["account menu open", "/alerts", {}, (page) => page.getByRole("button", { name: /^Account/ }).click()],
    ["shortcuts", "/alerts", {}, (page) => page.keyboard.press("?")],
    ["share menu open", "/alerts", {}, (page) => page.getByRole("button", { name: "Share" }).click()],
    ["theme menu open", "/alerts", {}, (page) => page.getByRole("button", { name: /^Theme/ }).click()],
  ];
  test.each(thorough ? [...states, ...further] : states)("40 %s", async (_, address, options, act) => {
    const page = await visit(address, options);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await act(page);
    expect(await violations(page)).toEqual([]);
  });
});
