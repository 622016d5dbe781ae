import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { adminSession, apiAs, apiBy, enter, serverUrl, testLong, unique, violations, visit } from "./browser";
import { sideways } from "./pages";
import { joined } from "./server";

type Schedule = Schemas["Schedule"];

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
  await page.getByRole("heading", { level: 1, name: "demo-ora-dwh-01" }).waitFor();
  await page.getByText("Owner: Analytics").waitFor();
});

test("administrators move teams, also with the keyboard", async () => {
  const page = await visit("/teams", { expected: [/status of 412/] });
  // Other tests make and remove teams meanwhile.
  const demo = ["Platform", "Payments", "Analytics"];
  const names = async () =>
    (await teams(page).getByRole("heading", { level: 2 }).allTextContents()).filter((name) => demo.includes(name));
  await teams(page).getByRole("heading", { name: "Payments" }).waitFor();
  const before = await names();
  expect(before.length).toBe(demo.length);
  const [first, second] = before as [string, string];
  const swapped = [second, first, ...before.slice(2)];
  try {
    expect(await page.getByRole("button", { name: `Move ${first} up` }).getAttribute("aria-disabled")).toBe("true");
    await page.getByRole("button", { name: `Move ${second} up` }).focus();
    await page.keyboard.press("Enter");
    await page.getByText(`The team ${second} is now in place 1.`).waitFor();
    await expect.poll(names, patience).toEqual(swapped);
    // The focus stays with the team that moved.
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(`Move ${second} up`);
    expect(await violations(page)).toEqual([]);

    // Somebody else moves it back; the page then shows their order instead of moving from another place.
    const list = (await (await apiAs("admin", "GET", "/api/v1/teams")).json()) as { items: Schemas["Team"][] };
    expect((await apiAs("admin", "PATCH", `/api/v1/teams/${list.items[0]?.id}`, { position: 2 })).status).toBe(200);
    await page.getByRole("button", { name: `Move ${second} down` }).click();
    await page.getByText(/changed since you read it/).waitFor();
    await expect.poll(names, patience).toEqual(before);
  } finally {
    const { items } = (await (await apiAs("admin", "GET", "/api/v1/teams")).json()) as { items: Schemas["Team"][] };
    const at = items.find((team) => team.name === first);
    await apiAs("admin", "PATCH", `/api/v1/teams/${at?.id}`, { position: 1 });
  }
});

test("a viewer sees teams on a phone and changes none", async () => {
  const page = await visit("/teams", { as: "viewer", viewport: phone });
  await teams(page).getByRole("heading", { name: "Platform" }).waitFor();
  expect(await page.getByRole("button", { name: "New team" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: /^(Edit|Move)/ }).count()).toBe(0);
  expect(await sideways(page)).toBe(false);
});

const owned = [
  ["/instances", "demo-pg-orders-01"],
  ["/alerts?range=7d&q=demo-pg-orders-01", "demo-pg-orders-01"],
  ["/findings?group=none&q=demo-pg-orders-01", "demo-pg-orders-01"],
] as const;

testLong.each(owned)(
  "%s says who owns what: in a column if there is room, else in another one, and on a phone",
  async (path, name) => {
    const page = await visit(path, { viewport: { width: 1720, height: 900 } });
    const line = page.locator("tbody tr", { hasText: name }).first();
    const chip = line.getByRole("link", { name: "Owner: Payments" });
    await line.waitFor();
    await page.getByRole("columnheader", { name: "Owner" }).waitFor();
    expect(await chip.count()).toBe(1);
    const head = page.getByRole("columnheader", { name: "Owner" });
    for (const [direction, query] of [
      ["ascending", /[?&]sort=owner/],
      ["descending", /[?&]sort=-owner/],
    ] as const) {
      await head.getByRole("button").click();
      await page.waitForURL(query);
      await expect.poll(() => head.getAttribute("aria-sort"), patience).toBe(direction);
    }
    await line.waitFor();
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
  },
);

test("one schedule makes a report for each team, of the servers with a tag", async () => {
  const name = unique("e2e per team");
  const page = await visit("/schedules/new?kind=Security", { expected: [/status of 422/] });
  await page.getByLabel("Name").fill(name);
  await page.getByRole("radio", { name: "Instances with tags" }).check();
  await page.getByRole("button", { name: "Create schedule" }).click();
  await page.getByText("Enter at least one tag, or choose all instances.").waitFor();
  const tags = page.getByRole("combobox", { name: "Tags", exact: true });
  await tags.fill("env:prod");
  await tags.press("Enter");
  await page.getByLabel("Only if the findings changed").check();
  await page.getByLabel("One report per team").check();
  expect(await page.getByLabel("Only if the findings changed").isDisabled()).toBe(true);
  await page.getByRole("combobox", { name: "Teams as recipients (optional)" }).click();
  await page.getByRole("option", { name: "Payments" }).click();
  await page.keyboard.press("Escape");
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize(phone);
  expect(await sideways(page)).toBe(false);
  const [answer] = await Promise.all([
    page.waitForResponse((answer) => answer.request().method() === "POST" && answer.url().endsWith("/schedules")),
    page.getByRole("button", { name: "Create schedule" }).click(),
  ]);
  const made = (await answer.json()) as Schedule;
  expect(made).toMatchObject({ scope: { tags: { env: ["prod"] } }, perTeam: true, onlyIfChanged: false });
  expect(made.teamIds).toHaveLength(1);

  // It is read back, and taken back: not for all servers while a member of the team sees only their team's.
  await page.goto(`/schedules/${made.id}?edit=yes`);
  await page.getByLabel("One report per team").uncheck();
  await page.getByRole("radio", { name: "All active instances" }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/have members with the role team who do not see all servers/i).waitFor();
  await page.getByRole("combobox", { name: "Teams as recipients (optional)" }).press("Backspace");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Schedule saved.").waitFor();
  const now = (await (await apiAs("admin", "GET", `/api/v1/schedules/${made.id}`)).json()) as Schedule;
  expect(now).toMatchObject({ perTeam: false, teamIds: [] });
  expect(Object.keys(now.scope.tags ?? {})).toEqual([]);
  await apiAs("admin", "DELETE", `/api/v1/schedules/${made.id}`);
});

test("a report is requested of the servers with tags, for the members of teams; its address opens the same form", async () => {
  const page = await visit("/reports/view?kind=Security&tag=env:prod&tag=team:payments");
  await page.getByText("The active instances with env:prod, team:payments.").waitFor();
  await page.getByRole("combobox", { name: "Teams as recipients (optional)" }).click();
  await page.getByRole("option", { name: "Platform" }).click();
  await page.waitForURL(/teamId=/);
  await page.getByText("and the members of 1 team").waitFor();
  await page.reload();
  await page.getByText("and the members of 1 team").waitFor();
  expect(await violations(page)).toEqual([]);
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/reports"));
  await page.getByRole("button", { name: "Request report" }).click();
  const body = (await sent).postDataJSON() as Schedule;
  expect(body.scope).toEqual({ instanceIds: [], tags: { env: ["prod"], team: ["payments"] } });
  expect(body.teamIds).toHaveLength(1);
  await page.waitForURL(/\/reports\/history/);
});

testLong(
  "a team's member finds exceptions, evidence, the audit list and schedules, withdraws an exception, and makes a schedule",
  async () => {
    const who = { email: "mia@example.org", name: "Mia Mate", role: "team" } as const;
    const session = await joined(serverUrl, adminSession, who);
    const me = (await (await apiBy(session, "GET", "/api/v1/session")).json()) as { member: { id: string } };
    const list = await apiAs("admin", "GET", "/api/v1/instances?q=demo-pg-orders-01");
    const [server] = ((await list.json()) as { items: { id: string; name: string }[] }).items;
    const team = await apiAs("admin", "POST", "/api/v1/teams", {
      name: unique("Mates"),
      selector: { instanceIds: [server?.id] },
      members: [{ memberId: me.member.id, role: "member" }],
    });
    const { id } = (await team.json()) as { id: string };
    try {
      const page = await visit("/exceptions", {
        as: null,
        before: (page) => enter(page.context(), serverUrl, session),
      });
      const menu = page.getByRole("navigation", { name: "Main" });
      await page.getByRole("navigation", { name: "Findings" }).getByRole("link", { name: "Exceptions" }).waitFor();
      await page.getByRole("button", { name: "Request an exception" }).click();
      const dialog = page.getByRole("dialog", { name: "Request an exception" });
      await dialog.getByLabel("Check").fill("PG-S01");
      const reason = unique("Until the move");
      await dialog.getByLabel("Reason").fill(reason);
      await dialog.getByRole("button", { name: "Ask" }).click();
      await dialog.getByText("Choose an instance.").waitFor();
      await dialog.getByLabel("Instance").click();
      await page.getByRole("option", { name: server?.name as string }).click();
      await dialog.getByRole("button", { name: "Ask" }).click();
      const row = page.getByRole("row").filter({ hasText: reason });
      await row.getByText("Requested").waitFor();
      expect(await row.getByRole("button", { name: /Grant|Refuse/ }).count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      await row.getByRole("button", { name: "Withdraw" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
      await row.getByText("Revoked").waitFor();

      await page.goto("/checks/PG-S01");
      await page.getByRole("region", { name: /evidence/i }).waitFor();
      await menu.getByRole("link", { name: "Settings" }).click();
      await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Audit" }).click();
      await page.getByRole("table", { name: "Audit list" }).getByText("PG-S01").first().waitFor();
      await menu.getByRole("link", { name: "Teams" }).waitFor();

      const schedule = unique("Mates' Monday");
      await menu.getByRole("link", { name: "Reports" }).click();
      await page.getByRole("navigation", { name: "Reports" }).getByRole("link", { name: "Schedules" }).click();
      await page.goto("/schedules/new?kind=Security");
      await page.getByLabel("Name").fill(schedule);
      await page.getByText("Selected instances, up to 100").click();
      await page.getByRole("combobox", { name: "Selected instances" }).click();
      await page.getByRole("option", { name: server?.name as string }).click();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Create schedule" }).click();
      await page.getByRole("heading", { name: schedule }).waitFor();
      const made = new URL(page.url()).pathname;
      await page.goto("/schedules");
      await page.getByRole("link", { name: schedule }).waitFor();
      expect((await apiBy(session, "DELETE", `/api/v1${made}`)).status).toBe(204);
      expect(await menu.getByRole("link", { name: "Notifications" }).count()).toBe(0);
    } finally {
      await apiAs("admin", "DELETE", `/api/v1/teams/${id}`);
    }
  },
);

testLong("somebody in two teams is offered changes only of the servers on which they act", async () => {
  const session = await joined(serverUrl, adminSession, { email: "tia@example.org", name: "Tia Two", role: "team" });
  const me = (await (await apiBy(session, "GET", "/api/v1/session")).json()) as { member: { id: string } };
  const made: string[] = [];
  const ids: Record<string, string> = {};
  const reasons: Record<string, string> = {};
  for (const [name, role] of [
    ["demo-pg-orders-01", "member"],
    ["demo-pg-billing-01", "viewer"],
  ] as const) {
    const list = await apiAs("admin", "GET", `/api/v1/instances?q=${name}`);
    const id = ((await list.json()) as Schemas["InstancePage"]).items[0]?.id as string;
    const team = await apiAs("admin", "POST", "/api/v1/teams", {
      name: unique(role),
      selector: { instanceIds: [id] },
      members: [{ memberId: me.member.id, role }],
    });
    made.push(((await team.json()) as { id: string }).id);
    ids[name] = id;
    reasons[name] = unique(`Kept on ${name}`);
    const asked = await apiAs("admin", "POST", "/api/v1/exceptions", {
      checkId: "PG-S02",
      instanceId: id,
      objectRef: unique("object"),
      reason: reasons[name],
      until: new Date(Date.now() + 30 * 86_400_000).toISOString(),
    });
    expect(asked.status).toBe(201);
  }
  const read = async <T>(path: string) => (await (await apiBy(session, "GET", path)).json()) as { items: T[] };
  try {
    const page = await visit("/exceptions", { as: null, before: (page) => enter(page.context(), serverUrl, session) });
    const withdraw = (name: string) =>
      page
        .getByRole("row")
        .filter({ hasText: reasons[name] as string })
        .getByRole("button", { name: "Withdraw" });
    await withdraw("demo-pg-orders-01").waitFor();
    expect(await withdraw("demo-pg-billing-01").count()).toBe(0);

    await page.goto("/instances");
    const select = (name: string) => page.getByRole("checkbox", { name: `Select ${name}` });
    await select("demo-pg-orders-01").waitFor();
    expect(await select("demo-pg-billing-01").isDisabled()).toBe(true);
    await page.getByRole("checkbox", { name: "Select all instances on this page" }).check();
    await page.getByText("1 instance selected").last().waitFor();
    expect(await select("demo-pg-billing-01").isChecked()).toBe(false);

    // A report and a schedule can only be about servers on which they act.
    for (const path of ["/reports/view?kind=Security", "/schedules/new?kind=Security"]) {
      await page.goto(path);
      await page.getByText("Selected instances, up to 100").click();
      await page.getByRole("combobox", { name: "Selected instances" }).click();
      await page.getByRole("combobox", { name: "Selected instances" }).fill("demo-pg");
      await page.getByRole("option", { name: /demo-pg-orders-01/ }).waitFor();
      expect(await page.getByRole("option", { name: /demo-pg-billing-01/ }).count(), path).toBe(0);
    }

    const tags = page.getByRole("button", { name: /^(Edit|Add) tags$/ });
    await page.goto(`/instances/${ids["demo-pg-orders-01"]}`);
    await tags.waitFor();
    await page.goto(`/instances/${ids["demo-pg-billing-01"]}`);
    await page.getByRole("list", { name: "Tags of demo-pg-billing-01" }).waitFor();
    expect(await tags.count()).toBe(0);

    const findings = await read<Schemas["Finding"]>("/api/v1/findings?pageSize=100");
    const button = page.getByRole("button", { name: "Request an exception" });
    for (const mayAct of [true, false]) {
      const finding = findings.items.find((f) => f.mayAct === mayAct);
      expect(finding, `a finding of ${mayAct}`).toBeDefined();
      await page.goto(`/findings/${finding?.id}`);
      await page.getByRole("heading", { level: 1, name: finding?.check.title as string }).waitFor();
      expect([await button.count(), await page.getByRole("button", { name: /^Change assignee/ }).count()]).toEqual(
        mayAct ? [1, 1] : [0, 0],
      );
    }

    const alerts = (await read<Schemas["Alert"]>("/api/v1/alerts?pageSize=100")).items;
    for (const alert of [alerts.find((a) => a.open && a.mayAct), alerts.find((a) => a.open && !a.mayAct)]) {
      if (!alert) continue; // the demo's servers have alerts as they come
      await page.goto(`/alerts/${alert.id}`);
      await page.getByRole("heading", { level: 1, name: alert.title }).waitFor();
      expect(await page.getByRole("button", { name: "Resolve" }).count()).toBe(alert.mayAct ? 1 : 0);
    }
  } finally {
    for (const id of made) await apiAs("admin", "DELETE", `/api/v1/teams/${id}`);
  }
});
