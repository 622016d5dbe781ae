import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { violations, visit } from "./browser";
import { sideways } from "./pages";

const patience = { timeout: 12_000 };
const phone = { width: 360, height: 800 };
const refused = [/status of 409/];
const teams = (page: Page) => page.getByRole("list", { name: "Teams" });

test("teams own servers, and lead to them", async () => {
  const page = await visit("/teams", { expected: refused });
  await teams(page).getByRole("heading", { name: "Payments" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "New team" }).click();
  const dialog = page.getByRole("dialog", { name: "New team" });
  await dialog.getByRole("button", { name: "Create team" }).click();
  await dialog.getByText("Enter a name.").waitFor();
  await dialog.getByLabel("Name").fill("Payments");
  const tags = dialog.getByLabel("Servers with tags");
  await tags.fill("env");
  await tags.press("Enter");
  await dialog.getByRole("button", { name: "Create team" }).click();
  await dialog.getByText("“env” is not a tag.").waitFor();
  await tags.press("Backspace");
  await tags.fill("env:staging");
  await tags.press("Enter");
  await dialog.getByRole("button", { name: "Create team" }).click();
  await dialog.getByText("the organization has a team of that name").waitFor();
  await dialog.getByLabel("Name").fill("Staging");
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Create team" }).click();
  await page.getByText("The team Staging is created.").waitFor();
  // Its server belongs to the platform, which comes before it.
  const staging = teams(page).getByRole("listitem").filter({ hasText: "Staging" });
  await staging.getByText("It owns no server. 1 more belongs to teams before it.").waitFor();
  await staging.getByText("Servers with env: staging.").waitFor();

  await page.getByRole("button", { name: "Edit Staging" }).click();
  await page.getByRole("dialog", { name: "Edit Staging" }).getByLabel("Name").fill("Release");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await teams(page).getByRole("heading", { name: "Release" }).waitFor();
  await page.getByRole("button", { name: "Remove Release" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
  await expect.poll(() => teams(page).getByRole("heading", { name: "Release" }).count(), patience).toBe(0);

  const owns = teams(page)
    .getByRole("listitem")
    .filter({ hasText: "Analytics" })
    .getByRole("link", { name: "2 servers" });
  await owns.click();
  await page.getByRole("link", { name: "demo-ora-dwh-01" }).waitFor();
  expect(await page.getByRole("link", { name: /^demo-pg-orders/ }).count()).toBe(0);
  await page.getByRole("link", { name: "demo-ora-dwh-01" }).click();
  await page.getByText("Owner: Analytics").waitFor();
});

test("a viewer sees teams on a phone and changes none", async () => {
  const page = await visit("/teams", { as: "viewer", viewport: phone });
  await teams(page).getByRole("heading", { name: "Platform" }).waitFor();
  expect(await page.getByRole("button", { name: "New team" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: /^Edit/ }).count()).toBe(0);
  expect(await sideways(page)).toBe(false);
});

test.each([
  ["/instances", "demo-pg-orders-01"],
  ["/alerts?range=7d&q=demo-pg-orders-01", "demo-pg-orders-01"],
  ["/findings?group=none&q=demo-pg-orders-01", "demo-pg-orders-01"],
])("%s says who owns what: in a column if there is room, else in another one, and on a phone", async (path, name) => {
  const page = await visit(path, { viewport: { width: 1720, height: 900 } });
  const line = page.locator("tbody tr", { hasText: name }).first();
  const chip = line.getByRole("link", { name: "Owner: Payments" });
  await line.waitFor();
  await page.getByRole("columnheader", { name: "Owner" }).waitFor();
  expect(await chip.count()).toBe(1);
  const columns = () =>
    page.locator("thead th").evaluateAll((all) => all.filter((th) => (th as HTMLElement).offsetWidth > 0).length);
  const wide = await columns();
  // A laptop's screen shows the same columns as before, and the owner in one of them.
  await page.setViewportSize({ width: 1366, height: 768 });
  await expect.poll(columns).toBe(wide - 1);
  expect(await chip.count()).toBe(1);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize(phone);
  await page.locator("table").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Owner: Payments" }).first().waitFor();
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("link", { name: "Owner: Payments" }).first().click();
  await page.waitForURL(/\/instances\?owner=/);
});
