// How many responses a page takes before its first useful content, for somebody who opens it with an empty cache.
import { expect, test } from "vitest";
import { apiAs, visit } from "./browser";
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
  forbidden: "#main h1",
  lost: "#main h1",
};

/** arrived is how many responses a page took, and after how many milliseconds its first useful content was there. */
async function arrived({ name, path, as }: PageAt): Promise<{ responses: number; ms: number; names: string[] }> {
  const selector = useful[name] ?? usual.map((part) => `#main ${part}:not(nav *)`).join(", ");
  const page = await visit(path, {
    as,
    measured: true,
    expected: [/./], // other tests hold what the console says
    before: (page) =>
      page.addInitScript((selector) => {
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
      }, selector),
  });
  const found = await page.waitForFunction(() => (window as { arrived?: unknown }).arrived);
  const result = (await found.jsonValue()) as { responses: number; ms: number; names: string[] };
  await page.context().close();
  return result;
}

test("every page shows its first useful content after at most 20 responses", async () => {
  const pages = (await everyPage()).filter(({ again, as }) => !again && as !== null);
  const orders = await apiAs("admin", "GET", "/api/v1/instances?q=demo-pg-orders-01");
  const { items } = (await orders.json()) as { items: { id: string }[] };
  pages.push({ name: "instance with load", path: `/instances/${items[0]?.id}` });
  const over: string[] = [];
  for (const at of pages) {
    const { responses, ms, names } = await arrived(at).catch(() => ({ responses: -1, ms: -1, names: [] as string[] }));
    process.stdout.write(`responses: ${at.name} ${responses} after ${ms} ms\n`);
    if (responses > most || responses < 0) over.push(`${at.name}: ${responses}: ${names.join(" ")}`);
  }
  expect(over).toEqual([]);
}, 600_000);
