// The charts themselves, on the dashboard, with figures chosen for each test.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { visit } from "./browser";
import {
  allDrawn,
  answerTrends,
  chart,
  cursorOf,
  expectHover,
  inked,
  inkOf,
  pixelsOf,
  plotOf,
  pointAt,
  readout,
  type Shape,
  titles,
} from "./trends";

// hide= hides no series.
const fiveHours = "/?from=2026-11-18T06:00:00Z&to=2026-11-18T11:00:00Z&hide=";
const tenHours = "/?from=2026-11-18T00:00:00Z&to=2026-11-18T10:00:00Z&hide=";

const shown = async (address: string, shape: Shape) => {
  const page = await visit(address, {
    colorScheme: "light",
    before: async (p) => {
      await answerTrends(p, shape);
    },
  });
  await allDrawn(page);
  return page;
};

test("13 Synchronized hover", async () => {
  const page = await shown(tenHours, { bucketSize: "1m", otherwise: (i) => 10 + (i % 50) });
  await pointAt(page, "Utilization", 0.7005);
  await expectHover(page, 420);
  const times = await Promise.all(titles.map((title) => readout(page, title, "time")));
  expect(new Set(times)).toEqual(new Set(["18 Nov, 07:00"]));
  expect(await readout(page, "Utilization", 0)).toBe("30 %");
  expect(await readout(page, "Query performance", 0)).toBe("30 ms");
  for (const title of titles) {
    const line = await chart(page, title).locator(".u-cursor-x").boundingBox();
    const plot = await plotOf(page, title).boundingBox();
    const middle = ((line?.x ?? 0) - (plot?.x ?? 0)) / (plot?.width ?? 1);
    expect(Math.abs(middle - 420.5 / 600), `the line of ${title}`).toBeLessThan(0.01);
    expect(await chart(page, title).locator(".u-cursor-y").count(), "a horizontal line").toBe(0);
  }
  await page.mouse.move(5, 5);
  await expectHover(page, null);
});

test("14 Synchronized keyboard cursor", async () => {
  const page = await shown(tenHours, {
    bucketSize: "1h",
    series: { cpuPercent: [1, 2, 3, 4, 5, null, 7, 8, 9, 10] },
    otherwise: (i) => i,
  });
  const cursor = cursorOf(page, "Utilization");
  await cursor.focus();
  await page.keyboard.press("Home");
  await expectHover(page, 0);
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  await expectHover(page, 5);
  expect(await cursor.getAttribute("aria-valuetext")).toBe("18 Nov, 05:00–06:00: CPU no data, Memory 5 %, Disk 5 %");
  expect(await cursor.getAttribute("aria-valuenow")).toBe("5");
  expect(await cursorOf(page, "Wait events").getAttribute("aria-valuetext")).toContain("Total 25");
  await page.keyboard.press("End");
  await expectHover(page, 9);
  await page.keyboard.press("Shift+ArrowLeft");
  await expectHover(page, 0);
  await page.keyboard.press("PageUp");
  await expectHover(page, 9);
  await page.keyboard.press("Escape");
  await expectHover(page, null);
});

test("15 null is a gap, 0 is drawn", async () => {
  const nothing = [null, null, null, null, null];
  const page = await shown(fiveHours, {
    bucketSize: "1h",
    series: { cpuPercent: [5, null, null, 0, 5], memoryPercent: nothing },
    otherwise: () => 80,
  });
  const blue = (from: number, to: number) => inkOf(page, "Utilization", "blue", from, to);
  expect(inked(await blue(0.12, 0.685)), "between the 5 and the 0").toBe(0);
  expect(inked(await blue(0.095, 0.105)), "the 5 that stands alone").toBeGreaterThan(0);
  const zero = await blue(0.7, 0.71);
  expect(Math.max(...zero.flatMap((column) => column.rows)), "the 0 is on the axis").toBeGreaterThan(0.98);
  expect(inked(await blue(0.72, 0.88)), "from the 0 to the 5").toBe(1);
  await pointAt(page, "Utilization", 0.3);
  await expectHover(page, 1);
  expect(await readout(page, "Utilization", 0)).toBe("no data");
  await pointAt(page, "Utilization", 0.7);
  await expectHover(page, 3);
  expect(await readout(page, "Utilization", 0)).toBe("0 %");
  expect(await readout(page, "Utilization", 1)).toBe("no data");
});

const level: Shape = { bucketSize: "1h", series: { cpuPercent: [50, 50, 50, 50, 50] } };

test("16 Partial last bucket looks partial", async () => {
  const page = await shown(fiveHours, { ...level, lastBucketPartial: true, generatedAt: "2026-11-18T10:37:02Z" });
  await chart(page, "Utilization").getByText("partial (37 of 60 min)").waitFor();
  expect(inked(await inkOf(page, "Utilization", "blue", 0.12, 0.68)), "whole buckets").toBe(1);
  const dashes = inked(await inkOf(page, "Utilization", "blue", 0.72, 0.88));
  expect(dashes, "dashes").toBeGreaterThan(0.3);
  expect(dashes, "gaps between dashes").toBeLessThan(0.85);
  const hatched = await shadeOf(page);
  expect(hatched.last, "the last bucket is hatched").toBeGreaterThan(hatched.before + 20);
  await pointAt(page, "Utilization", 0.9);
  await expectHover(page, 4);
  expect(await cursorOf(page, "Utilization").getAttribute("aria-valuetext")).toContain("partial (37 of 60 min)");
  const said = chart(page, "Utilization").getByText("partial (37 of 60 min)");
  expect(await said.isVisible()).toBe(true);
  await pointAt(page, "Utilization", 0.3);
  await expectHover(page, 1);
  expect(await said.isVisible(), "of a bucket that was whole").toBe(false);
});

test("16 A bucket that is over is solid", async () => {
  const page = await shown(fiveHours, { ...level, lastBucketPartial: false });
  expect(inked(await inkOf(page, "Utilization", "blue", 0.12, 0.88))).toBe(1);
  expect(await chart(page, "Utilization").getByText("partial").count()).toBe(0);
  const hatched = await shadeOf(page);
  expect(hatched.last).toBe(hatched.before);
});

/** shadeOf counts the painted pixels between two lines of the grid, in the last bucket and in the one before it. */
async function shadeOf(page: Page) {
  const painted = async (from: number, to: number) => {
    const { data, width, height } = await pixelsOf(page, "Utilization", from, to);
    const row = data.slice(Math.round(height * 0.3) * width * 4).slice(0, width * 4);
    return row.filter((value, i) => i % 4 === 3 && value > 0).length;
  };
  return { before: await painted(0.62, 0.78), last: await painted(0.82, 0.98) };
}

test("17 X axis spans the requested window", async () => {
  const page = await shown(tenHours, {
    bucketSize: "1m",
    first: "2026-11-18T09:00:00Z",
    count: 60,
    series: { cpuPercent: Array.from({ length: 60 }, () => 50) },
  });
  expect(inked(await inkOf(page, "Utilization", "blue", 0, 0.89)), "before the data").toBe(0);
  expect(inked(await inkOf(page, "Utilization", "blue", 0.91, 0.99)), "the data").toBe(1);
  await pointAt(page, "Utilization", 0.95);
  await expectHover(page, 30);
});

test("17 A bucket that begins before the window is cut off there", async () => {
  const page = await shown("/?from=2026-11-18T06:30:00Z&to=2026-11-18T10:30:00Z", {
    bucketSize: "1h",
    series: { cpuPercent: [50, 50, 50, 50, 50] },
  });
  await pointAt(page, "Utilization", 0.06);
  await expectHover(page, 0);
  await pointAt(page, "Utilization", 0.2);
  await expectHover(page, 1);
  await pointAt(page, "Utilization", 0.94);
  await expectHover(page, 4);
});

test("19 Wait Events: five stacked areas", async () => {
  const of = (value: number) => Array.from({ length: 5 }, () => value);
  const page = await shown(fiveHours, {
    bucketSize: "1h",
    series: { locks: of(3), lightweightLocks: of(3), io: of(3), clientNetwork: of(3), other: of(3) },
    otherwise: () => 1,
  });
  const order = ["red", "gold", "blue", "orchid", "grey"] as const;
  /** edges are how far below the plot's top the upper edge of each area is. */
  const edges = async () => {
    const inks = await Promise.all(order.map((hue) => inkOf(page, "Wait events", hue, 0.5, 0.505)));
    return inks.map((ink) => Math.min(...ink.flatMap((column) => column.rows), Number.POSITIVE_INFINITY));
  };
  const names = chart(page, "Wait events").getByRole("list").getByRole("button");
  expect(await names.allInnerTexts()).toEqual(["Locks", "Lightweight locks", "I/O", "Client / network", "Other"]);
  const before = await edges();
  expect(before).toEqual([...before].sort((a, b) => b - a));
  expect(before.every((edge) => edge < 1)).toBe(true);
  await pointAt(page, "Wait events", 0.5);
  await expectHover(page, 2);
  expect(await readout(page, "Wait events", 2)).toBe("3");
  expect(await readout(page, "Wait events", "total")).toBe("15");

  await chart(page, "Wait events").getByRole("button", { name: "I/O", pressed: true }).click();
  await chart(page, "Wait events").getByRole("button", { name: "I/O", pressed: false }).waitFor();
  await expect.poll(async () => (await edges())[2]).toBe(Number.POSITIVE_INFINITY);
  await pointAt(page, "Wait events", 0.5);
  await expect.poll(() => readout(page, "Wait events", "total")).toBe("12");
  expect(await readout(page, "Wait events", 3), "an own value stays").toBe("3");
  const [, , , , other = 0] = await edges();
  expect(other, "the others move down, or the scale fits them anew").not.toBe(before[4]);
});

test("8 Drag on a chart zooms all four", async () => {
  let asked: URL[] = [];
  const page = await visit("/?range=6h", {
    before: async (p) => {
      asked = await answerTrends(p, { bucketSize: "1m", otherwise: (i) => i % 7 });
    },
  });
  await allDrawn(page);
  const steps = await page.evaluate(() => history.length);
  await pointAt(page, "Query performance", 0.25);
  await page.mouse.down();
  await pointAt(page, "Query performance", 0.5, { steps: 5 });
  const shade = await chart(page, "Query performance").locator(".u-select").boundingBox();
  const plot = await plotOf(page, "Query performance").boundingBox();
  expect((shade?.width ?? 0) / (plot?.width ?? 1), "what is dragged over is shaded").toBeCloseTo(0.25, 1);
  asked.length = 0;
  await page.mouse.up();
  await page.waitForURL(/from=/);
  const chosen = new URL(page.url()).searchParams;
  const [from, to] = [Date.parse(chosen.get("from") ?? ""), Date.parse(chosen.get("to") ?? "")];
  expect(chosen.has("range")).toBe(false);
  expect([from % 60_000, to % 60_000], "whole buckets").toEqual([0, 0]);
  expect((to - from) / 60_000).toBeGreaterThanOrEqual(89);
  expect((to - from) / 60_000).toBeLessThanOrEqual(92);
  await expect.poll(() => asked.length).toBe(4);
  const bounds = asked.map((url) => `${url.searchParams.get("from")} ${url.searchParams.get("to")}`);
  expect(new Set(bounds).size).toBe(1);
  expect(await page.evaluate(() => history.length), "one entry").toBe(steps + 1);
  await page.goBack();
  await page.waitForURL(/range=6h/);
  expect(page.url()).not.toContain("from=");
});

test("8 A drag is given up with Escape, and a click is no drag: it opens the panel", async () => {
  const page = await shown(tenHours, { bucketSize: "1h", otherwise: (i) => i });
  const before = page.url();
  await pointAt(page, "Utilization", 0.3);
  await page.mouse.down();
  await pointAt(page, "Utilization", 0.6, { steps: 3 });
  await page.keyboard.press("Escape");
  await page.mouse.up();
  expect(page.url()).toBe(before);
  await pointAt(page, "Utilization", 0.45);
  await page.mouse.down();
  await expectHover(page, 4);
  await page.mouse.up();
  await page.waitForURL(/who=/);
  expect(page.url()).toMatch(/whoFrom=2026-11-18T04:00:00.000Z&whoTo=2026-11-18T05:00:00.000Z$/);
  const { searchParams } = new URL(page.url());
  for (const [name, value] of new URL(before).searchParams) expect(searchParams.get(name)).toBe(value);
});

test("40 Lines take the colours of the scheme, also when it changes", async () => {
  const page = await shown(fiveHours, { ...level, bucketSize: "1h" });
  expect(inked(await inkOf(page, "Utilization", "blue", 0.2, 0.8))).toBe(1);
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(async () => inked(await inkOf(page, "Utilization", "blue", 0.2, 0.8))).toBe(0);
});
