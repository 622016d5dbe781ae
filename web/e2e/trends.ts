// Answers of the four windowed tiles with figures that a test chooses, and what the charts drew of them.
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { hues } from "../src/chart/palette";
import { bucketLengths } from "../src/window/window";

/** tilePaths are where the four tiles are asked for. */
export const tilePaths = {
  "Alert history": "/api/v1/alerts/raised-resolved-history",
  Utilization: "/api/v1/metrics/utilization",
  "Query performance": "/api/v1/metrics/query-performance",
  "Wait events": "/api/v1/metrics/wait-events",
};
export type Title = keyof typeof tilePaths;
export const titles = Object.keys(tilePaths) as Title[];
type Values = (number | null)[];

const tiles: Record<string, string[]> = {
  [tilePaths["Alert history"]]: ["active", "resolved"],
  [tilePaths.Utilization]: ["cpuPercent", "memoryPercent", "diskPercent"],
  [tilePaths["Query performance"]]: ["avgLatencyMs", "maxLatencyMs"],
  [tilePaths["Wait events"]]: ["locks", "lightweightLocks", "io", "clientNetwork", "other"],
};

export type Shape = {
  bucketSize: keyof typeof bucketLengths;
  /** The first bucket; without it the one that holds the window's start. */
  first?: string;
  /** How many buckets; without it as many as reach the window's end. */
  count?: number;
  lastBucketPartial?: boolean;
  generatedAt?: string;
  monitoringStartedAt?: string;
  /** Values by the name of a series; of those that are not named `otherwise`, or else 1. */
  series?: Record<string, Values>;
  otherwise?: (index: number, series: string) => number | null;
  partialEngines?: string[];
};

/** answerTrends has the four tiles answered in that shape, or in the one for what they ask; it returns what they asked. */
export async function answerTrends(page: Pick<Page, "route">, shape: Shape | ((url: URL) => Shape)): Promise<URL[]> {
  const asked: URL[] = [];
  await page.route(
    (url) => url.pathname in tiles,
    (route) => {
      const url = new URL(route.request().url());
      asked.push(url);
      return route.fulfill({ json: answer(url, typeof shape === "function" ? shape(url) : shape) });
    },
  );
  return asked;
}

function answer(url: URL, { otherwise = () => 1, ...shape }: Shape) {
  const [from, to] = [url.searchParams.get("from") ?? "", url.searchParams.get("to") ?? ""];
  const length = bucketLengths[shape.bucketSize];
  const first = shape.first ? Date.parse(shape.first) : Math.floor(Date.parse(from) / length) * length;
  const n = shape.count ?? Math.ceil((Date.parse(to) - first) / length);
  const indices = Array.from({ length: n }, (_, i) => i);
  return {
    from,
    to,
    bucketSize: shape.bucketSize,
    bucketStarts: indices.map((i) => new Date(first + i * length).toISOString().replace(".000", "")),
    lastBucketPartial: shape.lastBucketPartial ?? false,
    generatedAt: shape.generatedAt ?? to,
    monitoringStartedAt: shape.monitoringStartedAt ?? "2020-01-01T00:00:00Z",
    hostCount: 3,
    engines: ["postgresql"],
    partialEngines: shape.partialEngines ?? [],
    unit: "averageWaitingSessions",
    series: Object.fromEntries(
      (tiles[url.pathname] ?? []).map((s) => [s, shape.series?.[s] ?? indices.map((i) => otherwise(i, s))]),
    ),
  };
}

export const chart = (page: Page, title: Title): Locator => page.getByRole("figure", { name: title, exact: true });
export const plotOf = (page: Page, title: Title): Locator => chart(page, title).locator(".u-over");
export const cursorOf = (page: Page, title: Title): Locator =>
  page.getByRole("slider", { name: `${title}, bucket`, exact: true });
/** readout is what a legend says: of "time", "total", or the n-th series. */
export const readout = (page: Page, title: Title, what: string | number): Promise<string> =>
  chart(page, title)
    .locator(`[data-readout="${what}"]`)
    .evaluate((node) => node.textContent);

/** allDrawn waits for the four charts. */
export const allDrawn = (page: Page) => Promise.all(titles.map((title) => plotOf(page, title).waitFor()));

/** hoverIndices are the buckets that the charts show, null for none. */
export const hoverIndices = (page: Page) =>
  Promise.all(titles.map((title) => chart(page, title).getAttribute("data-hover-index")));

export const expectHover = (page: Page, index: number | null) =>
  expect.poll(() => hoverIndices(page)).toEqual(titles.map(() => (index === null ? null : String(index))));

/** pointAt moves the mouse over a plot: to a share of its width, halfway up. */
export async function pointAt(page: Page, title: Title, share: number, options?: { steps: number }) {
  await plotOf(page, title).scrollIntoViewIfNeeded();
  const box = await plotOf(page, title).boundingBox();
  if (!box) throw new Error(`${title} has no plot`);
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2, options);
}

/** Ink is where a plot shows a colour: for each column of pixels, the rows, from 0 at the top to 1 on the axis. */
export type Ink = { share: number; rows: number[] }[];

/** inkOf reads a light chart's pixels of a hue, of the columns between two shares of the plot's width. */
export async function inkOf(page: Page, title: Title, hue: keyof typeof hues, from = 0, to = 1): Promise<Ink> {
  const color = [1, 3, 5].map((at) => Number.parseInt(hues[hue][0].slice(at, at + 2), 16));
  const { data, width, height } = await pixelsOf(page, title, from, to);
  return Array.from({ length: width }, (_, x) => {
    const rows: number[] = [];
    for (let y = 0; y < height; y++) {
      const at = (y * width + x) * 4;
      const distance = color.reduce((sum, c, i) => sum + Math.abs(c - (data[at + i] ?? 0)), 0);
      // The canvas is transparent: the edge of a line has its colour, less opaque.
      if (distance < 60 && (data[at + 3] ?? 0) > 60) rows.push(y / height);
    }
    return { share: from + ((to - from) * x) / width, rows };
  });
}

/** pixelsOf is what the canvas has in a part of the plot (and 2 px below its axis), as RGBA. */
export async function pixelsOf(page: Page, title: Title, from: number, to: number) {
  const read = await chart(page, title).evaluate(
    (figure, [from, to]) => {
      const canvas = figure.querySelector("canvas") as HTMLCanvasElement;
      const over = figure.querySelector(".u-over") as HTMLElement;
      const ratio = canvas.width / canvas.clientWidth;
      const x0 = Math.ceil((over.offsetLeft + from * over.clientWidth) * ratio);
      const width = Math.floor((over.offsetLeft + to * over.clientWidth) * ratio) - x0;
      const height = Math.round(over.clientHeight * ratio) + 2;
      // Read from a copy: reading the chart's own canvas again and again makes the browser complain.
      const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
      copy?.drawImage(canvas, -x0, -Math.round(over.offsetTop * ratio));
      // As an array of bytes: one of numbers crosses to here number by number, which took two fifths of chart.long.ts.
      return { data: copy?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray(), width, height };
    },
    [from, to] as const,
  );
  return read;
}

/** inked is the share of the columns that have any of the colour. */
export const inked = (ink: Ink) => ink.filter((column) => column.rows.length > 0).length / Math.max(1, ink.length);
