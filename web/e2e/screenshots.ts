// `make screenshots`: every page, light, dark and 360 px wide, as pictures to look at, and the two that README.md shows.
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { apiAs, type Visit, visit } from "./browser";
import { everyPage, type PageAt, settled } from "./pages";
import { allDrawn } from "./trends";

const folder = process.env.MUSTER_SCREENSHOTS ?? "";

type State = PageAt & { before?: Visit["before"] };

const failing = {
  status: 503,
  contentType: "application/problem+json",
  body: JSON.stringify({
    status: 503,
    code: "unavailable",
    title: "Unavailable",
    detail: "The measurements cannot be read right now.",
    requestId: "01JD4Y3M7Q2N",
  }),
};
const stub = (path: string, body: unknown) => (page: Page) =>
  page.route(path, (route) => route.fulfill({ json: body }));

/** What the demo does not show: faults, nothing at all, and numbers and names that are too long. */
const states: State[] = [
  {
    name: "dashboard-failed",
    path: "/",
    before: (page) => page.route("**/api/v1/metrics/**", (route) => route.fulfill(failing)),
  },
  {
    name: "dashboard-big",
    path: "/",
    before: stub("**/api/v1/health-checks/overview*", {
      asOf: "2026-11-20T11:37:02Z",
      comparedAt: "2026-11-13T11:37:02Z",
      instances: { current: 12_480, previous: 12_481, trend: -1 },
      databases: { current: 1_234_567, previous: 1_100_000, trend: 134_567 },
      alerts: { current: 98_765, previous: 1_234, trend: 97_531 },
    }),
  },
  {
    name: "dashboard-first-run",
    path: "/",
    before: async (page) => {
      await stub("**/api/v1/instances*", { items: [], page: { number: 1, size: 200, totalItems: 0, totalPages: 0 } })(
        page,
      );
      await stub("**/api/v1/alerts?*", { items: [], page: { number: 1, size: 10, totalItems: 0, totalPages: 0 } })(
        page,
      );
      await stub("**/api/v1/health-checks/overview*", {
        asOf: "2026-11-20T11:37:02Z",
        comparedAt: "2026-11-13T11:37:02Z",
        instances: { current: 0, previous: 0, trend: 0 },
        databases: { current: 0, previous: 0, trend: 0 },
        alerts: { current: 0, previous: 0, trend: 0 },
      })(page);
    },
  },
  { name: "history-empty", path: "/reports/history?kind=DataInventory&status=Expired" },
];

test("every page", async () => {
  expect(folder, "MUSTER_SCREENSHOTS names the folder").not.toBe("");
  await mkdir(folder, { recursive: true });
  const wanted = process.env.MUSTER_PAGES?.split(",");
  for (const { name, path, as = "admin", before } of [...(await everyPage()), ...states] as State[]) {
    if (wanted && !wanted.includes(name)) continue;
    const page = await visit(path, { as, before, expected: [/./] });
    await settled(page).catch((error) => process.stdout.write(`${name}: ${error}\n`));
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
    await page.emulateMedia({ colorScheme: "dark" });
    await page.screenshot({ path: join(folder, `${name}-dark.png`), fullPage: true });
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 360, height: 800 });
    await page.waitForTimeout(300); // charts draw anew
    await page.screenshot({ path: join(folder, `${name}-360.png`), fullPage: true });
    await page.context().close();
  }
});

const pictures = "../docs/pictures";

/** weekMeasured waits until a demo made just now has its figures of the last seven days. */
const weekMeasured = () => {
  const [from, to] = [Date.now() - 7 * 86_400_000, Date.now()].map((at) => new Date(at).toISOString());
  const week = `/api/v1/metrics/utilization?from=${from}&to=${to}&bucketSize=1h`;
  const oldest = async () => {
    const { series } = (await (await apiAs("admin", "GET", week)).json()) as { series: { cpuPercent: unknown[] } };
    return series.cpuPercent.slice(0, 2);
  };
  return expect.poll(oldest, { timeout: 300_000, interval: 1_000 }).not.toContain(null);
};

test("the dashboard, for README.md", async () => {
  await weekMeasured();
  const page = await visit("/?range=7d", { viewport: { width: 1440, height: 1055 } });
  await settled(page);
  await allDrawn(page);
  await page.getByRole("complementary", { name: "Demo" }).getByRole("button", { name: "Dismiss" }).click();
  await mkdir(pictures, { recursive: true });
  // By way of the protocol: Playwright itself writes no WebP, and the same as PNG is four times as large.
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 90 });
  await writeFile(join(pictures, "dashboard.webp"), Buffer.from(data, "base64"));
});

test("the first page of a report, for README.md", async () => {
  const answer = await apiAs("admin", "GET", "/api/v1/reports?kind=Security&status=Ready&pageSize=1");
  const { items } = (await answer.json()) as { items: { downloadUrl: string }[] };
  const report = join(folder, "report.pdf");
  const file = await apiAs("admin", "GET", items[0]?.downloadUrl ?? "");
  await writeFile(report, Buffer.from(await file.arrayBuffer()));
  await mkdir(pictures, { recursive: true });
  const first = ["-png", "-r", "110", "-f", "1", "-l", "1", "-singlefile"];
  await promisify(execFile)("pdftoppm", [...first, report, join(pictures, "report")]);
});
