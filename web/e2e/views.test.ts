import type { Page } from "playwright-core";
import { expect } from "vitest";
import { testLong, unique, violations, visit } from "./browser";
import { sideways } from "./pages";

const patience = { timeout: 12_000 };
const phone = { width: 360, height: 800 };

testLong("a page is saved as a view, opened by others, renamed and deleted", async () => {
  const name = unique("Production");
  const page = await visit("/alerts?status=open&tag=env:prod");
  await page.getByRole("button", { name: "Instances: All with env:prod" }).waitFor();
  const menu = (of: Page) => of.getByRole("button", { name: "Views", exact: true });
  await menu(page).click();
  await page.getByRole("menuitem", { name: "Save this page" }).click();
  const dialog = page.getByRole("dialog");
  const field = dialog.getByLabel("Name", { exact: true });
  expect(await field.inputValue()).toBe("Alerts · env:prod");
  await field.fill(name);
  await dialog.getByRole("switch", { name: "Share with all members of the organization" }).check();
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText(`${name} is saved under Views.`).waitFor();

  const colleague = await visit("/instances", { as: "viewer", viewport: phone });
  await menu(colleague).click();
  await colleague.getByText("Shared by others").waitFor();
  expect(await colleague.getByRole("menuitem", { name: "Manage views" }).count()).toBe(0);
  expect(await violations(colleague)).toEqual([]);
  await colleague.getByRole("menuitem", { name }).click();
  await expect
    .poll(() => new URL(colleague.url()).pathname + new URL(colleague.url()).search, patience)
    .toBe("/alerts?status=open&tag=env:prod");
  expect(await sideways(colleague)).toBe(false);

  await menu(page).click();
  await page.getByRole("menuitem", { name: "Manage views" }).click();
  const form = page.getByRole("form", { name });
  await form.getByLabel("Name", { exact: true }).fill(`${name} again`);
  expect(await violations(page)).toEqual([]);
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByText(`${name} again is saved.`).waitFor();
  await page.getByRole("button", { name: `Delete ${name} again` }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText(`${name} again is deleted.`).waitFor();
  await page.keyboard.press("Escape");
  await colleague.reload();
  await menu(colleague).click();
  await colleague.getByRole("menuitem", { name: "Save this page" }).waitFor();
  expect(await colleague.getByRole("menuitem", { name }).count()).toBe(0);
});
