// Charts whose figures change: what they then show is what a page shows that was loaded with these figures.
import { createHash } from "node:crypto";
import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { visit } from "./browser";
import { allDrawn, answerTrends, chart, cursorOf, expectHover, plotOf, pointAt, type Shape, titles } from "./trends";

/** figures are everybody's at the moment: the test changes them, and Refresh brings them. */
type Figures = (length: number, filtered: boolean) => Pick<Shape, "series" | "otherwise">;

const noon = Date.UTC(2026, 10, 20, 12);

/** Every series is greatest in its middle bucket, so that one look there sees whether the plot holds it. */
const peaked =
  (scale: number, add = 0): Figures =>
  (length, filtered) => ({
    otherwise: (i, series) => {
      const peak = i === Math.floor(length / 2) ? 40 : 1 + (i % 3);
      const percent = series.endsWith("Percent");
      return (percent ? peak / 2 : peak * scale * (series === "maxLatencyMs" ? 900 : 1) + add) / (filtered ? 8 : 1);
    },
  });

const constant =
  (value: number | null, more: Shape["series"] = {}): Figures =>
  () => ({ otherwise: () => value, series: more });

/** former makes figures greater that are of a window before, so that an axis which ignored them would not hold them. */
const former = ({ series, otherwise }: ReturnType<Figures>, to: number): ReturnType<Figures> => ({
  series,
  otherwise: (i, name) => {
    const value = otherwise?.(i, name) ?? null;
    return value !== null && to <= noon - 12 * 3_600_000 ? value * 5 : value;
  },
});

/** labelled keeps what is written on each canvas since it was last wiped: the axes' labels and where they are. */
function labelled() {
  type Kept = HTMLCanvasElement & { labels?: { text: string; x: number; y: number }[] };
  const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...area) {
    (this.canvas as Kept).labels = [];
    clearRect.apply(this, area);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    (this.canvas as Kept).labels?.push({ text, x: Math.round(x), y: Math.round(y) });
    fillText.call(this, text, x, y);
  };
}

type Seen = { labels: { text: string; x: number; y: number }[]; beside: string; legend: string; pixels: string };

/** seen is all there is of the four charts: labels of the axes and where they are, names of bands, legends, every pixel. */
async function seen(page: Page): Promise<Seen[]> {
  await page.evaluate(() => document.fonts.ready);
  const charts = await Promise.all(
    titles.map((title) =>
      chart(page, title).evaluate((figure) => {
        const canvas = figure.querySelector("canvas") as HTMLCanvasElement & { labels?: Seen["labels"] };
        const notes = [...figure.querySelectorAll<HTMLElement>(".chart-band, .chart-marker")];
        return {
          labels: canvas.labels ?? [],
          beside: notes.map((note) => `${note.textContent} ${note.style.cssText}`).join("; "),
          legend: figure.querySelector(".chart-legend")?.textContent ?? "",
          pixels: canvas.toDataURL(),
        };
      }),
    ),
  );
  return charts.map((seen) => ({ ...seen, pixels: createHash("sha256").update(seen.pixels).digest("hex") }));
}

/** heldByPlots looks at the middle bucket, where all series are greatest: each one shown has its point inside its plot. */
async function heldByPlots(page: Page, points: number[]) {
  await pointAt(page, "Utilization", 0.501);
  const heights = () =>
    Promise.all(
      titles.map((title) =>
        chart(page, title).evaluate((figure) => {
          const plot = (figure.querySelector(".u-over") as HTMLElement).getBoundingClientRect();
          return [...figure.querySelectorAll(".u-cursor-pt:not(.u-off)")].map((point) => {
            const { top, height } = point.getBoundingClientRect();
            return (plot.bottom - top - height / 2) / plot.height;
          });
        }),
      ),
    );
  await expect.poll(async () => (await heights()).map((of) => of.length)).toEqual(points);
  for (const [i, of] of (await heights()).entries()) {
    for (const height of of) {
      expect(height, `${titles[i]}: ${of}`).toBeGreaterThan(-0.01);
      expect(height, `${titles[i]}: ${of}`).toBeLessThan(1);
    }
  }
  await page.mouse.move(5, 5);
  await expectHover(page, null);
}

const turnTo = (page: Page, address: string) =>
  page.evaluate((to) => {
    history.pushState({}, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, address);

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

/** changing is a page whose figures a test changes, and another to load anew with what the first one has come to. */
async function changing(address: string, first: Figures) {
  let figures = first;
  let context: BrowserContext | undefined;
  const page = await visit(address, {
    colorScheme: "light",
    before: async (p) => {
      context = p.context();
      await context.clock.setFixedTime(noon);
      await context.addInitScript(labelled);
      // Without marks of alerts, which come when they come.
      await context.route(/\/api\/v1\/alerts\?.*sort=lastTriggeredAt/, (route) =>
        route.fulfill({ json: { items: [], page: { number: 1, size: 100, totalItems: 0, totalPages: 0 } } }),
      );
      await answerTrends(context, (url) => {
        const [from, to] = ["from", "to"].map((name) => Date.parse(url.searchParams.get(name) ?? "")) as [
          number,
          number,
        ];
        const length = Math.ceil((to - Math.floor(from / 3_600_000) * 3_600_000) / 3_600_000);
        return {
          bucketSize: "1h",
          lastBucketPartial: to > noon - 60_000,
          generatedAt: new Date(to).toISOString(),
          ...former(figures(length, url.searchParams.has("instanceId")), to),
        };
      });
    },
  });
  await allDrawn(page);
  const fresh = await page.context().newPage();
  await fresh.goto(address);
  await allDrawn(fresh);
  let before = await seen(fresh);
  return {
    page,
    /** come takes a step, and holds what the page then shows against the page loaded anew. */
    come: async (what: string, { act, to, points }: { act: () => unknown; to?: Figures; points?: number[] }) => {
      if (to) figures = to;
      const address = page.url();
      await act();
      if (page.url() === address && !to) await page.waitForURL((url) => url.href !== address);
      await fresh.goto(page.url());
      await allDrawn(fresh);
      const wanted = await seen(fresh);
      expect(wanted, `${what} changes nothing to look at`).not.toEqual(before);
      before = wanted;
      await expect.poll(() => seen(page), { message: what }).toEqual(wanted);
      if (points) await heldByPlots(page, points);
    },
    fresh,
  };
}

const all = [2, 3, 2, 3];

// Up to eight steps, at each of which the page is loaded anew beside the one that changes.
const patience = 120_000;

test("Axes and lines follow the figures: window, filter, Refresh", { timeout: patience }, async () => {
  const { page, come } = await changing("/?range=24h", peaked(1));
  const refresh = () => press(page, "Refresh");
  await come("a longer window", { act: () => turnTo(page, "/?range=7d"), to: peaked(70), points: all });
  const filter = "/?range=6h&instanceId=0193a1b2-0000-7000-8000-00000000000a";
  await come("a shorter window and a filter", { act: () => turnTo(page, filter), points: all });
  await come("Refresh with whole numbers", { act: refresh, to: constant(8), points: all });
  await come("Refresh with fractions up to the same", { act: refresh, to: constant(8, { active: [0.5, 8] }) });
  await come("Refresh with zeros", { act: refresh, to: constant(0), points: all });
  const alone = { active: [7], cpuPercent: [7], maxLatencyMs: [7], io: [7] };
  await come("Refresh with one value a chart", { act: refresh, to: constant(null, alone) });
  await come("Refresh with greater figures", { act: refresh, to: peaked(3_000), points: all });
});

test("Axes and lines follow what is chosen: legend, comparison, drag", { timeout: patience }, async () => {
  const { page, come } = await changing("/?range=24h", peaked(1));
  await come("a part of a stack exchanged", {
    act: async () => {
      await press(page, "Client / network");
      await press(page, "Locks");
    },
    points: all,
  });
  await come("a band hidden", { act: () => press(page, "Slowest query (mean)"), points: [2, 3, 1, 3] });
  const compare = async () => {
    await page.getByRole("button", { name: /^Time:/ }).click();
    await page.getByRole("switch", { name: "Compare with the window before" }).click();
    await page.keyboard.press("Escape");
    await page.mouse.move(5, 5);
  };
  await come("the window before, which is greater", { act: compare, points: [2, 3, 1, 3] });
  await come("a greater series of both windows hidden", { act: () => press(page, "I/O"), points: [2, 3, 1, 2] });
  await come("no comparison any more", { act: compare, points: [2, 3, 1, 2] });
  await press(page, "I/O");
  await come("a drag, with all of a chart hidden", {
    act: async () => {
      await press(page, "Average");
      await pointAt(page, "Utilization", 0.1);
      await page.mouse.down();
      await pointAt(page, "Utilization", 0.6, { steps: 3 });
      await page.mouse.up();
      await page.waitForURL(/from=/);
      await page.mouse.move(5, 5);
    },
    to: peaked(2),
    points: [2, 3, 0, 3],
  });
});

test("Axes and lines follow the page: scheme, width, table and back; the cursor keeps its bucket", {
  timeout: patience,
}, async () => {
  const { page, fresh, come } = await changing("/?range=24h", peaked(1));
  const cursor = cursorOf(page, "Utilization");
  await cursor.focus();
  await page.keyboard.press("End");
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowLeft");
  const bucket = (await cursor.getAttribute("aria-valuetext"))?.split(":")[0];
  // Another window, with the bucket elsewhere; labels of the same width, so that nothing else moves the cursor.
  await turnTo(page, "/?range=6h");
  await expect.poll(() => cursor.getAttribute("aria-valuemax")).toBe("5");
  expect((await cursor.getAttribute("aria-valuetext"))?.split(":")[0]).toBe(bucket);
  const index = Number(await cursor.getAttribute("aria-valuenow"));
  for (const title of titles) {
    const [line, plot] = await Promise.all([
      chart(page, title).locator(".u-cursor-x").boundingBox(),
      plotOf(page, title).boundingBox(),
    ]);
    const share = ((line?.x ?? 0) - (plot?.x ?? 0)) / (plot?.width ?? 1);
    expect(Math.abs(share - (index + 0.5) / 6), `the line of ${title}`).toBeLessThan(0.01);
  }
  await page.keyboard.press("Escape");
  await come("the dark scheme", {
    act: () => Promise.all([page, fresh].map((p) => p.emulateMedia({ colorScheme: "dark" }))),
    to: peaked(1),
  });
  await come("a narrow page", {
    act: () => Promise.all([page, fresh].map((p) => p.setViewportSize({ width: 700, height: 900 }))),
    to: peaked(1),
  });
  await page.getByRole("button", { name: "Wait events: more" }).click();
  await page.getByRole("menuitem", { name: "Show as table" }).click();
  await page.getByRole("region", { name: "Wait events, as a table" }).waitFor();
  await press(page, "Refresh");
  await page.getByRole("button", { name: "Wait events: more" }).click();
  await page.getByRole("menuitem", { name: "Show as chart" }).click();
  await come("a table, and back", { act: () => press(page, "Refresh"), to: peaked(50), points: all });
});
