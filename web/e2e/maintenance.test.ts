import { expect } from "vitest";
import { testLong, violations, visit } from "./browser";
import { sideways } from "./pages";

const phone = { width: 360, height: 800 };

testLong("a maintenance window is announced, shown at its servers, and ended", async () => {
  const page = await visit("/maintenance-windows", { expected: [/status of 422/] });
  await page.getByRole("button", { name: "Remove Patches of staging" }).click(); // the demo's
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No maintenance windows").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "New window" }).click();
  const dialog = page.getByRole("dialog", { name: "New maintenance window" });
  await dialog.getByRole("button", { name: "Announce" }).click();
  await dialog.getByText("Enter a name.").waitFor();
  await dialog.getByLabel("Name").fill("Patch day");
  await dialog.getByRole("button", { name: "Announce" }).click();
  await dialog.getByText(/selects no server/i).waitFor();
  const tags = dialog.getByLabel("Servers with tags");
  await tags.fill("env:prod");
  await tags.press("Enter");
  expect(await violations(page)).toEqual([]);
  await dialog.getByText("Recurring", { exact: true }).click();
  await dialog.getByLabel("Minutes").waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByText("Once", { exact: true }).click();
  await dialog.getByRole("button", { name: "Announce" }).click();
  await page.getByText("The maintenance window Patch day is saved.").waitFor();
  await page.getByText(/Running until/).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize(phone);
  expect(await sideways(page)).toBe(false);
  await page.setViewportSize({ width: 1440, height: 900 });
  const servers = await visit("/instances?tag=env:prod");
  await servers.getByRole("link", { name: "demo-pg-orders-01" }).first().click();
  await servers.getByText(/In the maintenance window Patch day until/).waitFor();
  expect(await violations(servers)).toEqual([]);
  await page.getByRole("button", { name: "End now: Patch day" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End now" }).click();
  await page.getByText("The maintenance window Patch day is over.").waitFor();
  await page.getByRole("button", { name: "Remove Patch day" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No maintenance windows").waitFor();
});
