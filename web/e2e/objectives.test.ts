// Objectives, how servers kept them in a month, and the form that changes them.
import { expect, test } from "vitest";
import { testLong, violations, visit } from "./browser";
import { settled, sideways } from "./pages";

test("a month shows the time up, down and unknown, and whether it kept the objective", async () => {
  const page = await visit("/objectives");
  const table = page.getByRole("table", { name: "Servers and their objectives" });
  await table.getByRole("link", { name: "demo-pg-orders-01" }).waitFor();
  expect(await page.getByRole("list", { name: "Objectives in their order" }).textContent()).toMatch(
    /available 99.9 %, mean latency up to 50 ms.*All other servers: available 99.5 %/,
  );
  expect(await table.locator("tbody").textContent()).toMatch(/kept|missed|cannot be told/);
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page)).toBe(false);
  await page.setViewportSize({ width: 1280, height: 900 });
  const region = page.getByRole("region", { name: "Servers and their objectives" });
  expect(await region.evaluate((of) => of.scrollWidth - of.clientWidth)).toBe(0);
});

testLong("an administrator changes the objectives, and a line that breaks a rule has a message", async () => {
  const page = await visit("/objectives", { expected: [/422/] });
  await page.getByRole("button", { name: "Edit objectives" }).click();
  const form = page.getByRole("form", { name: "Objectives" });
  await form.getByLabel("Availability in percent").first().fill("99.95");
  await form.getByRole("button", { name: "Add a line" }).click();
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText(/must be the last one/).waitFor();
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await form.getByRole("button", { name: "Remove line 3" }).click();
  await form.getByRole("button", { name: "Save" }).click();
  await page
    .getByRole("list", { name: "Objectives in their order" })
    .getByText(/99.95 %/)
    .waitFor();
});
