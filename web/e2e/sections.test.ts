// The sections of a server's page about transactions and about replication, on the demo.
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, testLong, violations, visit } from "./browser";
import { sideways } from "./pages";

async function idOf(name: string): Promise<string> {
  const answer = await apiAs("admin", "GET", `/api/v1/instances?q=${name}`);
  const { items } = (await answer.json()) as { items: { id: string }[] };
  return items[0]?.id ?? "";
}

const [orders, standby] = await Promise.all([idOf("demo-pg-orders-01"), idOf("demo-pg-orders-02")]);

testLong(
  "transactions: each panel draws its figures, a bucket leads to its sessions, and a viewer sees no people",
  async () => {
    const page = await visit(`/instances/${orders}?range=6h`);
    const section = page.getByRole("region", { name: "Transactions and connections" });
    for (const panel of ["Oldest transactions", "Temporary files", "Checkpoints", "New connections"]) {
      const one = section.locator(`[data-panel="${panel}"]`);
      await one.scrollIntoViewIfNeeded();
      await one.getByRole("slider").waitFor();
      await one.getByRole("link", { name: /^Sessions by / }).waitFor();
    }
    const longest = section.locator("[data-holder]").first();
    await longest.getByText(/^Longest: .+ at .+, session \d+ \(.+\)/).waitFor();
    const people = ((await longest.textContent()) ?? "").match(/\((.+?)\)/)?.[1]?.split(" · ") ?? [];
    expect(people.length).toBeGreaterThan(0);
    await page.evaluate(() => scrollTo(0, 0)); // nothing is below the head of the page
    expect(await violations(page)).toEqual([]);
    const chart = section.locator('[data-panel="Oldest transactions"]').getByRole("slider");
    await chart.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname === "/activity" && url.searchParams.has("pickedFrom"));
    expect(new URL(page.url()).searchParams.get("instanceId")).toContain(orders);
    const seen = await visit(`/instances/${orders}?range=6h`, { as: "viewer" });
    const holder = seen.getByRole("region", { name: "Transactions and connections" }).locator("[data-holder]").first();
    await holder.getByText(/session \d+/).waitFor();
    for (const name of people) expect(await holder.textContent()).not.toContain(name);
  },
);

test("replication: who follows whom, the lag, slots and the last failover, on both servers", async () => {
  const page = await visit(`/instances/${orders}?range=6h`);
  const section = page.locator("[data-replication]");
  await section.scrollIntoViewIfNeeded();
  await section.getByText(/primary.+measured/).waitFor();
  const tree = section.getByRole("list", { name: "Replication topology" });
  await tree.locator('[data-node="demo-pg-orders-01"]').getByText("this server · primary").waitFor();
  const other = tree.locator('[data-node="demo-pg-orders-02"]');
  await other.getByText("standby").waitFor();
  await other.locator("[data-behind]").waitFor();
  await tree.locator("[data-slot]").getByText("reporting").waitFor();
  await section.getByRole("slider").waitFor();
  const known = (await (
    await apiAs("admin", "GET", `/api/v1/instances/${orders}/replication`)
  ).json()) as Schemas["Replication"];
  expect(known.slots.map(({ name }) => name)).toContain("reporting");
  for (const { name } of known.slots)
    await section.getByRole("region", { name: "Replication slots" }).getByText(name, { exact: true }).waitFor();
  expect(known.roleChanges?.length).toBeGreaterThan(0);
  await page.evaluate(() => scrollTo(0, 0)); // nothing is below the head of the page
  expect(await violations(page)).toEqual([]);
  await other.getByRole("link", { name: "demo-pg-orders-02" }).click();
  await page.waitForURL((url) => url.pathname === `/instances/${standby}`);
  await page.locator('[data-replication] [data-node="demo-pg-orders-02"]').getByText("this server · standby").waitFor();
});

testLong("both sections fit a narrow screen", async () => {
  const page = await visit(`/instances/${orders}?range=6h`, { viewport: { width: 360, height: 800 } });
  await page.locator("[data-replication]").scrollIntoViewIfNeeded();
  await page.getByRole("region", { name: "Transactions and connections" }).scrollIntoViewIfNeeded();
  expect(await sideways(page)).toBe(false);
});

test("the demo has a deadlock with both sides", async () => {
  const page = await visit(`/instances/${orders}?range=6h`);
  const deadlocks = page.getByRole("region", { name: "Deadlocks" });
  await deadlocks.getByText("1 deadlock, orders").waitFor();
  const sides = await deadlocks.getByRole("listitem").allTextContents();
  expect(sides).toHaveLength(2);
  expect(sides.join()).toMatch(/checkout wanted ShareLock.*UPDATE orders SET status/);
  expect(sides.join()).toMatch(/shop-api wanted ShareLock.*UPDATE orders SET state/);
});
