// The tray and what it announces: checklist 34 and 37.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { violations } from "./browser";
import { patient, type Report, refused, report, requested, stub, trayOf, trayPath, visit } from "./historyStubs";
import { password } from "./muster";

/** noted waits until the page has seen a report in progress. */
const noted = (page: Page, { id }: Report) =>
  expect
    .poll(() => page.evaluate(() => Object.values({ ...sessionStorage }).join()), patient)
    .toMatch(new RegExp(`"watched":\\[[^\\]]*${id}`));

test("34 a report that became ready is told once, on any page", async () => {
  const ours = report(1, "Building");
  let tray = trayOf([ours]);
  const page = await visit("/reports/verify", {
    notices: true,
    before: async (page) => {
      await page.clock.install();
      await stub(page, trayPath, () => tray);
    },
  });
  await page.getByRole("button", { name: "Downloads", exact: true }).waitFor();
  await noted(page, ours);
  tray = trayOf([report(1, "Ready")], 1);
  await page.clock.fastForward(6_000);
  const toast = page.getByRole("group", { name: "Security report, Report 1: ready to download" });
  await toast.getByRole("link", { name: "Download" }).waitFor();
  await page.getByRole("button", { name: "Downloads, 1 new" }).waitFor();
  const live = page.locator("[data-announcer]");
  expect(await live.getAttribute("aria-live")).toBe("polite");
  expect(await live.textContent()).toBe("Security report, Report 1: ready to download.");
  await page.reload();
  await page.getByRole("button", { name: "Downloads, 1 new" }).waitFor();
  await page.clock.fastForward(1_000);
  expect(await live.textContent()).toBe("");
  expect(await toast.count()).toBe(0);
});

test("34 a report that failed is told, with why", async () => {
  const failed = report(1, "Failed");
  let tray = trayOf([report(1, "Building")]);
  const page = await visit("/reports/verify", {
    notices: true,
    before: async (page) => {
      await page.clock.install();
      await stub(page, trayPath, () => tray);
      await stub(page, new RegExp(`/api/v1/reports/${failed.id}$`), () => ({ body: failed }));
      await stub(page, new RegExp(`/api/v1/reports/${failed.id}/events`), () => ({ body: { items: [] } }));
    },
  });
  await noted(page, failed);
  tray = trayOf([]);
  await page.clock.fastForward(6_000);
  const toast = page.getByRole("group", { name: "Security report, Report 1: failed" });
  await toast.getByText("The PDF could not be rendered.").waitFor();
  await toast.getByRole("link", { name: "View" }).click();
  await page.waitForURL(`**/reports/${failed.id}`);
});

test("37 the tray lists every kind, and a file that is gone turns its row Expired", async () => {
  const items = [
    report(1, "Ready"),
    report(2, "Building", { kind: "InstanceScorecard" }),
    report(3, "Ready", { kind: "DataInventory", finishedAt: new Date(Date.now() - 120_000).toISOString() }), // seen before
  ];
  const seen: unknown[] = [];
  const page = await visit("/exports", {
    expected: [refused(410)],
    before: async (page) => {
      await stub(page, trayPath, () => trayOf(items, seen.length ? 0 : 1));
      await page.route("**/api/v1/exports/seen", (route) => {
        seen.push(route.request().postDataJSON());
        return route.fulfill({ status: 204 });
      });
      await page.route("**/download", (route) => route.fulfill({ status: 410 }));
    },
  });
  const card = (n: number) => page.locator(`[data-report="${items[n - 1]?.id}"]`);
  await card(2).getByText("Instance scorecard").waitFor();
  await card(3).getByText("Data inventory").waitFor();
  await expect.poll(() => seen, patient).toEqual([{ upTo: items[0]?.id }]);
  await page.getByRole("button", { name: "Downloads", exact: true }).waitFor();
  await card(1).getByText("New", { exact: true }).waitFor();
  let downloads = 0;
  page.on("download", () => downloads++);
  await card(1).getByRole("link", { name: "Download security-1.pdf" }).click();
  await card(1).getByText("Expired", { exact: true }).waitFor();
  await card(1)
    .getByText(/its file was deleted/)
    .waitFor();
  expect(
    await card(1)
      .getByRole("link", { name: /Download/ })
      .count(),
  ).toBe(0);
  await card(1).getByRole("link", { name: "Request again" }).waitFor();
  expect(downloads).toBe(0);
});

test("37 a link in an e-mail leads through the sign-in to the report in the tray, and its file", async () => {
  const mine = await requested("member");
  const page = await visit(`/exports?reportId=${mine.id}`, { as: null });
  await page.getByLabel("E-mail").fill("member@example.org");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  const card = page.locator(`[data-report="${mine.id}"]`);
  await card.waitFor();
  expect(new URL(page.url()).search).toBe(`?reportId=${mine.id}`);
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-report")), patient)
    .toBe(mine.id);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    card.getByRole("link", { name: `Download ${mine.file?.name}` }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(mine.file?.name);
});

test("37 a wanted report that is not in the tray is explained", async () => {
  const expired = report(7, "Expired");
  const page = await visit(`/exports?reportId=${expired.id}`, {
    expected: [refused(404)],
    before: async (page) => {
      await stub(page, new RegExp(`/api/v1/reports/${expired.id}$`), () => ({ body: expired }));
    },
  });
  const card = page.locator(`[data-report="${expired.id}"][data-status="Expired"]`);
  await card.getByRole("link", { name: "Request again" }).waitFor();
  await page.goto("/exports?reportId=0199f0d2-7a10-7c44-9b0e-00000000dead");
  await page.getByText("This report does not exist").waitFor();
});

test("37 the header's menu shows the latest five, and opening it clears the count", async () => {
  const items = [1, 2, 3, 4, 5, 6].map((n) => report(n, "Ready"));
  let unseen = 2;
  const page = await visit("/reports/verify", {
    before: async (page) => {
      await stub(page, trayPath, () => trayOf(items, unseen));
      await page.route("**/api/v1/exports/seen", (route) => {
        unseen = 0;
        return route.fulfill({ status: 204 });
      });
    },
  });
  await page.getByRole("button", { name: "Downloads, 2 new" }).click();
  const menu = page.getByRole("dialog", { name: "Downloads" });
  await menu.getByRole("link", { name: "Report 5" }).waitFor();
  expect(await menu.getByRole("link", { name: /^Report/ }).count()).toBe(5);
  await page.getByRole("button", { name: "Downloads", exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await menu.getByRole("link", { name: "Report 3" }).click();
  await page.waitForURL(`**/exports?reportId=${items[2]?.id}`);
});
