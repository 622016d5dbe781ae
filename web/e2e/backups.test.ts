// The backups of a server on its page: late, and within the objective.
import { expect, test } from "vitest";
import { apiAs, violations, visit } from "./browser";
import { settled, sideways } from "./pages";

const idOf = async (name: string) => {
  const { items } = (await (await apiAs("admin", "GET", `/api/v1/instances?q=${name}`)).json()) as {
    items: { id: string; name: string }[];
  };
  return items.find((i) => i.name === name)?.id;
};

test("a server says until when it can be restored, and whether that is late", async () => {
  const page = await visit(`/instances/${await idOf("demo-pg-legacy-01")}`);
  const section = page.locator("[data-backups]");
  await section.getByText("Older than the objective").waitFor();
  await section.getByText("objective 24 h").waitFor();
  await section.getByText(/Base/).first().waitFor();
  expect(await section.textContent()).toMatch(/Kept on \d+ of \d+ days/);
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page)).toBe(false);
  await page.goto(`/instances/${await idOf("demo-pg-orders-01")}`);
  await section.getByText("Within the objective").waitFor();
});
