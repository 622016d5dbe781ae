import { expect, test } from "vitest";
import { visit } from "./browser";

test("the shell shows the organization to whoever is signed in", async () => {
  const page = await visit("/");
  await page.getByRole("navigation", { name: "Main" }).getByText("Dashboard").waitFor();
  expect(await page.title()).toContain("Muster");
});
