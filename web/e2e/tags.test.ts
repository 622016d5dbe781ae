import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { requestsTo, testLong, violations, visit } from "./browser";
import { sideways } from "./pages";

const patience = { timeout: 12_000 };
const filter = (page: Page) => page.getByRole("button", { name: /^Instances:/ });
const tagsOf = (url: URL | string) => new URL(url).searchParams.getAll("tag");
const phone = { width: 360, height: 800 };

test("the filter of the top bar takes tags, and keeps them from page to page", async () => {
  const page = await visit("/alerts");
  const alerts = requestsTo(page, "/api/v1/alerts");
  await filter(page).click();
  await page.getByRole("combobox", { name: "Tags" }).click();
  await page.getByRole("option", { name: "team:analytics" }).click();
  await page.getByText("All that match: 2 instances").waitFor();
  expect(tagsOf(page.url())).toEqual(["team:analytics"]);
  await expect.poll(() => alerts.map(tagsOf).pop(), patience).toEqual(["team:analytics"]);
  await page.keyboard.press("Escape"); // closes the list, and then the popover
  await expect.poll(() => page.getByRole("option", { name: "team:analytics" }).count(), patience).toBe(0);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect.poll(() => filter(page).textContent(), patience).toBe("All with team:analytics");

  const measured = requestsTo(page, "/api/v1/metrics/");
  const counted = requestsTo(page, "/api/v1/health-checks/overview");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Overview" }).click();
  await page.getByText("2 of 2 active instances reporting").waitFor();
  expect(tagsOf(page.url())).toEqual(["team:analytics"]);
  await expect.poll(() => new Set(measured.map((url) => url.pathname)).size, patience).toBeGreaterThan(3);
  expect([...new Set(measured.map((url) => tagsOf(url).join()))]).toEqual(["team:analytics"]);
  await expect.poll(() => counted.map((url) => tagsOf(url).join()), patience).toContain("team:analytics");

  // A value that cannot be read matches nothing, and never everything.
  await page.goto("/?tag=nonsense");
  await expect.poll(() => filter(page).textContent(), patience).toBe("No instance matches");
  await page.getByText("No instance matches this filter").first().waitFor();
});

test("tags of several servers are set and removed at once, and each refusal is named", async () => {
  const page = await visit("/instances?q=demo-mssql&sort=name");
  const names = ["demo-mssql-erp-01", "demo-mssql-hr-01"];
  const select = async () => {
    for (const name of names) await page.getByRole("checkbox", { name: `Select ${name}` }).check();
  };
  const chip = (name: string) => page.getByRole("list", { name: `Tags of ${name}` }).getByText("batch:seven");
  await select();
  await page
    .getByRole("group", { name: "Actions on the selected instances" })
    .getByText("2 instances selected")
    .last()
    .waitFor();
  await page.getByRole("button", { name: "Set tags" }).click();
  const field = page.getByRole("dialog").getByLabel("Tags", { exact: true });
  await field.fill("batch:seven");
  await field.press("Enter");
  expect(await violations(page)).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Set tags" }).click();
  await page.getByText("The tags of 2 instances are saved.").waitFor();
  for (const name of names) await chip(name).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "batch:seven" }).count(), patience).toBe(2);
  await expect.poll(() => page.getByText("2 instances selected").count(), patience).toBe(0);

  await select();
  await page.getByRole("button", { name: "Remove tags" }).click();
  await page.getByRole("dialog").getByRole("combobox", { name: "Keys" }).press("ArrowDown");
  await page.getByRole("option", { name: "batch" }).click();
  await page.route("**/api/v1/instances/actions", async (route) => {
    const answer = await (await route.fetch()).json();
    const problem = { status: 403, code: "protected_tag", title: "", detail: "Only administrators set this tag." };
    answer.items[1] = { ...answer.items[1], done: false, problem };
    await route.fulfill({ json: answer });
  });
  await page.keyboard.press("Tab");
  await page.getByRole("dialog").getByRole("button", { name: "Remove tags" }).click();
  await page.getByText("The tags of 1 of 2 instances are saved. 1 instance could not be changed:").waitFor();
  await page.getByRole("dialog").getByRole("listitem").getByText("Only administrators set this tag.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("status").getByText("1 instance selected").first().waitFor({ state: "attached" });
  await expect.poll(() => page.getByRole("link", { name: "batch:seven" }).count(), patience).toBe(0);

  await page.setViewportSize(phone);
  await page.getByLabel("Select all on this page").check();
  await page
    .getByRole("group", { name: "Actions on the selected instances" })
    .getByText("3 instances selected")
    .last()
    .waitFor();
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
});

test("a viewer selects nothing", async () => {
  const page = await visit("/instances", { as: "viewer" });
  await page.getByRole("link", { name: "demo-mssql-erp-01" }).waitFor();
  expect(await page.getByRole("checkbox").count()).toBe(0);
});

test("the list groups by a tag, and each value leads to its servers", async () => {
  const page = await visit("/instances?group=team", { viewport: phone });
  const groups = page.getByRole("list", { name: "Instances by team" });
  const analytics = groups.getByRole("listitem").filter({ hasText: "team:analytics" });
  await analytics.getByText(/^2 instances/).waitFor();
  await groups.getByText("Without team").waitFor();
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
  await analytics.getByRole("link").click();
  await page.getByText("2 of 2 instances").or(page.getByText("1–2 of 2 instances")).waitFor();
  expect(new URL(page.url()).search).toBe("?tag=team:analytics");
});

testLong("all that match are selected beyond the page, as long as the filter stays, and changed", async () => {
  const page = await visit("/instances?tag=env:prod&pageSize=3");
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).check();
  const bar = page.getByRole("group", { name: "Actions on the selected instances" });
  await bar.getByText("3 instances selected").last().waitFor();
  const all = bar.getByRole("button", { name: /^Select all \d+ that match$/ });
  const total = Number(/\d+/.exec((await all.textContent()) ?? "")?.[0]);
  expect(total).toBeGreaterThan(3);
  await all.click();
  await bar.getByText(`All ${total} instances that match selected`).last().waitFor();
  expect(await violations(page)).toEqual([]);
  const sent: string[][] = [];
  await page.route("**/api/v1/instances/actions", async (route) => {
    const { ids } = route.request().postDataJSON() as { ids: string[] };
    sent.push(ids);
    await route.fulfill({ json: { items: ids.map((id) => ({ id, done: true, problem: null })) } });
  });
  await bar.getByRole("button", { name: "Set tags" }).click();
  const dialog = page.getByRole("dialog", { name: `Set tags of ${total} instances` });
  const field = dialog.getByLabel("Tags", { exact: true });
  await field.fill("batch:eight");
  await field.press("Enter");
  await dialog.getByRole("button", { name: "Set tags" }).click();
  await page.getByText(`The tags of ${total} instances are saved.`).waitFor();
  expect(sent.map((ids) => new Set(ids).size)).toEqual([total]);

  // One row less is no longer all, and another filter selects none.
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).check();
  await all.click();
  await page.locator("tbody").getByRole("checkbox").first().uncheck();
  await bar.getByText("2 instances selected").last().waitFor();
  expect(await all.count()).toBe(0);
  await page.getByRole("button", { name: "Page 2" }).click();
  await expect.poll(() => bar.getByText(/selected$/).count(), patience).toBe(0);
});
