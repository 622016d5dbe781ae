// The team switcher: one team's servers on every page that can be limited to them.
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import {
  adminSession,
  apiAs,
  apiBy,
  enter,
  requestsTo,
  serverUrl,
  testLong,
  thorough,
  unique,
  violations,
  visit,
} from "./browser";
import { sideways } from "./pages";
import { joined } from "./server";

type Team = { id: string; name: string };

const made: string[] = [];
afterAll(async () => {
  for (const id of made) await apiAs("admin", "DELETE", `/api/v1/teams/${id}`);
});

const items = async <T>(path: string): Promise<T[]> =>
  ((await (await apiAs("admin", "GET", path)).json()) as { items: T[] }).items;
const named = async (name: string) => (await items<Team>("/api/v1/teams")).find((team) => team.name === name) as Team;

/** team is a new team, which is last: it owns what no earlier one does. */
async function team(selector: object, members: object[] = []): Promise<Team> {
  const answer = await apiAs("admin", "POST", "/api/v1/teams", { name: unique("Team"), selector, members });
  expect(answer.status, await answer.clone().text()).toBe(201);
  const { id, name } = (await answer.json()) as Team;
  made.push(id);
  return { id, name };
}

const switcher = (page: Page) => page.getByRole("combobox", { name: "Team", exact: true });
const choose = async (page: Page, name: string) => {
  await switcher(page).click();
  await page.getByRole("option", { name, exact: true }).click();
};
const ownerOf = (page: Page) => new URL(page.url()).searchParams.get("owner");
const menu = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: false });

test("a team goes along from page to page, and each asks for its servers alone", async () => {
  const { id } = await named("Analytics");
  const owned = (await items<{ id: string; name: string }>(`/api/v1/instances?owner=${id}`)).map(({ name }) => name);
  expect(owned.length).toBeGreaterThan(0);
  const page = await visit("/");
  await page.locator("#main canvas").first().waitFor();
  const tiles = requestsTo(page, "/api/v1/metrics/utilization");
  await choose(page, "Analytics");
  await page.waitForURL(/owner=/);
  expect(ownerOf(page)).toBe(id);
  // Its tags match no server of an earlier team, so the figures are asked for by them.
  await expect.poll(() => tiles.at(-1)?.searchParams.getAll("tag")).toEqual(["team:analytics"]);
  await page.getByText(`of ${owned.length} active instances reporting`).waitFor();
  expect(await violations(page)).toEqual([]);

  const statements = requestsTo(page, "/api/v1/statements");
  await menu(page, "Queries").click();
  await expect.poll(() => statements.at(-1)?.searchParams.getAll("tag")).toEqual(["team:analytics"]);
  expect(ownerOf(page)).toBe(id);
  for (const [name, path] of [
    ["Alerts", "/api/v1/alerts"],
    ["Servers", "/api/v1/instances"],
    ["Findings", "/api/v1/findings/groups"],
  ] as const) {
    const asked = requestsTo(page, path);
    await menu(page, name).click();
    await expect
      .poll(() => asked.some((url) => url.pathname === path && url.searchParams.get("owner") === id))
      .toBe(true);
    expect(ownerOf(page), name).toBe(id);
    expect(await switcher(page).inputValue()).toBe("Analytics");
  }
  // A page that cannot be limited has no switcher, and the next one that can is limited again.
  await menu(page, "Teams").click();
  await page.getByRole("list", { name: "Teams" }).waitFor();
  expect(await switcher(page).count()).toBe(0);
  await menu(page, "Servers").click();
  await page
    .getByRole("link", { name: owned[0] as string })
    .first()
    .waitFor();
  expect(await page.locator("tbody tr").count()).toBe(owned.length);
  await choose(page, "All teams");
  await page.waitForURL((url) => !url.searchParams.has("owner"));
  await expect.poll(() => page.locator("tbody tr").count()).toBeGreaterThan(owned.length);
});

testLong("a team of single servers is asked for by their ids, together with the page's own filter", async () => {
  const [other] = await items<{ id: string }>(`/api/v1/instances?owner=${(await named("Analytics")).id}`);
  const platform = await named("Platform");
  const ids = (await items<{ id: string }>(`/api/v1/instances?owner=${platform.id}&pageSize=200`)).map(({ id }) => id);
  const page = await visit(`/?owner=${platform.id}&instanceId=${ids[0]}&instanceId=${other?.id}`, {
    before: async (page) => {
      // As where an earlier team owns a server that the selector matches.
      await page.route("**/api/v1/teams", async (route) => {
        const answer = await route.fetch();
        const body = (await answer.json()) as { items: { id: string; instanceCount: number }[] };
        for (const item of body.items) item.instanceCount += 1;
        await route.fulfill({ response: answer, json: body });
      });
    },
  });
  const [, asked] = await Promise.all([
    page.locator("#main canvas").first().waitFor(),
    page.waitForRequest((request) => new URL(request.url()).pathname === "/api/v1/metrics/utilization"),
  ]);
  expect(new URL(asked.url()).searchParams.getAll("instanceId")).toEqual([ids[0]]);
});

testLong("a team without servers, and a deleted one, show nothing rather than everything", async () => {
  const empty = await team({ tags: { team: ["nobody-has-this"] } });
  const paths = thorough ? ["/", "/alerts", "/statements", "/instances", "/findings"] : ["/", "/instances"];
  for (const path of paths) {
    const page = await visit(`${path}?owner=${empty.id}`);
    await page.getByText(`${empty.name} owns no servers`).waitFor();
    expect(await page.locator("#main :is(canvas, tbody tr)").count(), path).toBe(0);
  }
  const page = await visit(`/?owner=${crypto.randomUUID()}`);
  await page.getByText("This team was removed").waitFor();
  expect(await switcher(page).inputValue()).toBe("A removed team");
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Show all teams" }).click();
  await page.locator("#main canvas").first().waitFor();
});

test("a member with the role team chooses among their teams, and without servers sees the reason", async () => {
  const session = await joined(serverUrl, adminSession, { email: "tea@example.org", name: "Tea Team", role: "team" });
  const me = (await (await apiBy(session, "GET", "/api/v1/session")).json()) as { member: { id: string } };
  const as = (path: string, width = 1320) =>
    visit(path, {
      as: null,
      viewport: { width, height: 800 },
      before: (page) => enter(page.context(), serverUrl, session),
    });
  const nothing = await as("/instances");
  await nothing.getByText("Your teams own no servers").waitFor();
  const dashboard = await as("/");
  await dashboard.getByText("Your teams own no servers").waitFor();

  const [retired] = await items<{ id: string }>("/api/v1/instances?q=demo-pg-retired-01");
  const own = await team({ instanceIds: [retired?.id] }, [{ memberId: me.member.id, role: "viewer" }]);
  const page = await as("/instances", 360);
  await expect.poll(() => switcher(page).count()).toBe(1);
  expect(await switcher(page).inputValue()).toBe("All your teams");
  await switcher(page).click();
  expect(await page.getByRole("listbox").getByRole("option").allTextContents()).toEqual(["All your teams", own.name]);
  await page.getByRole("listbox").getByRole("option", { name: own.name }).click();
  await page.waitForURL(/owner=/);
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);

  // A viewer of a team reads no findings.
  const wide = await as("/reports");
  await wide.getByRole("navigation", { name: "Reports" }).getByRole("link", { name: "History" }).waitFor();
  await wide.getByRole("navigation", { name: "Reports" }).getByRole("link", { name: "Schedules" }).waitFor();
  expect(await menu(wide, "Findings").getAttribute("href")).toMatch(/^\/checks/);
  const member = { members: [{ memberId: me.member.id, role: "member" }] };
  expect((await apiAs("admin", "PATCH", `/api/v1/teams/${own.id}`, member)).status).toBe(200);
  const findings = await as("/findings");
  await findings.getByText("No open findings").or(findings.locator("[data-group]").first()).waitFor();
  expect(await menu(findings, "Findings").getAttribute("href")).toMatch(/^\/findings/);
});
