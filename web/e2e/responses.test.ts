// How many responses and how much time a page takes before its first useful content, with an empty cache. Times are
// printed, and not held against their goals: they depend on the machine and on what else it does.
import { readFile } from "node:fs/promises";
import { loadavg } from "node:os";
import type { CDPSession, Page } from "playwright-core";
import { expect, test } from "vitest";
import { apiAs, testLong, thorough, visit } from "./browser";
import { everyPage, type PageAt } from "./pages";

/** most is how many responses a page may take: the document, scripts, style sheets, fonts and answers of the API. */
const most = 20;

/** A page's content is useful with the first row, chart, card, form or fact of its own. */
const usual = ["tbody tr", "canvas", "article", "form", "dl", "ol > li", "ul > li", ".mantine-Center-root"];

/** The first useful content of other pages: the charts of two that show facts before them, and what else there is to do. */
const useful: Record<string, string> = {
  dashboard: "#main canvas",
  // Its first server tells of no waits: the page says so in place of the chart.
  instance: "#main [aria-label=Load] p",
  "instance with load": "#main canvas",
  verify: "#main button",
  exports: "#main :is([data-report], .mantine-Center-root)",
  "watch-rule": "#main h2",
  forbidden: "#main h1",
  lost: "#main h1",
};

const usefulOf = ({ name }: PageAt) => useful[name] ?? usual.map((part) => `#main ${part}:not(nav *)`).join(", ");

type Reader = { page: Page; devtools: CDPSession };

/** reader opens some of the pages as a member, on a processor that is slowed so many times. */
async function reader(pages: PageAt[], as: PageAt["as"], slowed = 1): Promise<Reader> {
  const page = await visit("/healthz", {
    as,
    measured: slowed > 1,
    expected: [/./], // other tests hold what the console says
  });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowed });
  const selectors = Object.fromEntries(pages.map((at) => [at.path, usefulOf(at)]));
  await page.addInitScript((selectors) => {
    const selector = selectors[location.pathname + location.search];
    if (selector === undefined) return; // it was opened for its script alone
    const look = () => {
      const there = [...document.querySelectorAll<HTMLElement>(selector)].some((found) => found.offsetHeight > 0);
      // A chart is marked when it is painted: by the next frame, what waits for it may have come.
      const painted = performance.getEntriesByName("muster:first-chart-painted")[0]?.startTime;
      const now = selector.endsWith("canvas") ? painted : performance.now();
      if (!there || now === undefined) return requestAnimationFrame(look);
      const parts = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
      const names = parts.filter((part) => part.responseEnd > 0 && part.responseEnd <= now).map(({ name }) => name);
      // The document is a navigation, not a resource.
      Object.assign(window, { arrived: { responses: names.length + 1, ms: Math.round(now), names } });
    };
    requestAnimationFrame(look);
  }, selectors);
  return { page, devtools };
}

/** arrived is how many responses a page took, and after how many milliseconds its first useful content was there. */
async function arrived(
  { page, devtools }: Reader,
  path: string,
): Promise<{ responses: number; ms: number; names: string[] }> {
  await devtools.send("Network.clearBrowserCache");
  await page.goto(path);
  const found = await page.waitForFunction(() => (window as { arrived?: unknown }).arrived);
  return (await found.jsonValue()) as { responses: number; ms: number; names: string[] };
}

/** opened are the pages that members open, and a server with a load. */
async function opened(): Promise<PageAt[]> {
  const pages = (await everyPage()).filter(({ again, as }) => !again && as !== null);
  const orders = await apiAs("admin", "GET", "/api/v1/instances?q=demo-pg-orders-01");
  const { items } = (await orders.json()) as { items: { id: string }[] };
  return [...pages, { name: "instance with load", path: `/instances/${items[0]?.id}` }];
}

test("the list of pages has a page for each route", async () => {
  const routes = [...(await readFile("src/routes.tsx", "utf8")).matchAll(/^ {4}"(\/[^"]*)",$/gm)].map(
    ([, path]) => path ?? "",
  );
  expect(routes.length).toBeGreaterThan(40);
  const paths = (await everyPage()).map(({ path }) => path.replace(/[?#].*/, ""));
  const fits = (route: string) => {
    // A page whose address names a thing is not also the page of another route, as of a form for a new one.
    const named = new RegExp(`^${route.replace(/\$\w+/g, "(?!new$|view$|history$|verify$|connect$)[^/]+")}$`);
    return paths.some((path) => named.test(path));
  };
  expect(routes.filter((route) => !fits(route))).toEqual([]);
});

testLong(
  "pages show their first useful content after at most 20 responses",
  async () => {
    const over: string[] = [];
    const all = await opened();
    const pages = thorough ? all : all.filter((_, i) => i % 6 === 0);
    const readers = new Map<PageAt["as"], Reader>();
    for (const { name, path, as } of pages) {
      const by = readers.get(as) ?? (await reader(pages, as));
      readers.set(as, by);
      const none = { responses: -1, ms: -1, names: [] as string[] };
      const { responses, ms, names } = await arrived(by, path).catch(() => none);
      process.stdout.write(`responses: ${name} ${responses} after ${ms} ms\n`);
      if (responses > most || responses < 0) over.push(`${name}: ${responses}: ${names.join(" ")}`);
    }
    expect(over).toEqual([]);
  },
  600_000,
);

/** goalOf is the goal of a page in milliseconds, on a processor that is slowed four times. */
const goalOf = ({ name }: PageAt) => (name === "instance" || name === "instance with load" ? 2_000 : 1_500);

// It only prints: left to `make test-all`, which has the machine for itself.
testLong(
  "when every page shows its first useful content on a processor slowed 4 times",
  async () => {
    let missed = 0;
    const pages = await opened();
    for (const at of pages) {
      const times: number[] = [];
      for (let i = 0; i < 3; i++) {
        const by = await reader(pages, at.as, 4);
        times.push((await arrived(by, at.path)).ms);
        await by.page.context().close();
      }
      const median = [...times].sort((a, b) => a - b)[1] ?? Number.NaN;
      if (median > goalOf(at)) missed++;
      process.stdout.write(
        `slowed 4 times: ${at.name} ${median} ms, goal ${goalOf(at)} ms (${times.join(", ")}; load ${loadavg()[0]?.toFixed(1)})\n`,
      );
    }
    process.stdout.write(`slowed 4 times: ${missed} of ${pages.length} pages miss their goal\n`);
  },
  900_000,
);
