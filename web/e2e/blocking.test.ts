// Who holds whom up: the list, one episode with its tree, and the ways that lead there, on the demo.
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, testLong, violations, visit } from "./browser";
import { episode, sideways } from "./pages";

const id = await episode();
const detail = async () =>
  (await (await apiAs("admin", "GET", `/api/v1/blocking/${id}`)).json()) as Schemas["BlockingDetail"];

test("an episode names its root, and draws who waits for whom at each sample", async () => {
  const page = await visit(`/blocking/${id}`);
  await page
    .getByRole("heading", { level: 1, name: /^billing (holds|held) up \d+ sessions on public\.orders$/ })
    .waitFor();
  const root = page.locator("[data-root]");
  await root.getByText("billing", { exact: true }).waitFor();
  await root.getByText(/^Idle in transaction for \d/).waitFor();
  await root.getByText("bill", { exact: true }).waitFor();
  await root.getByText("10.4.2.17", { exact: true }).waitFor();
  const { samples } = await detail();
  const waits = page.getByRole("region", { name: /behind/ });
  await page.getByRole("region", { name: "Waits for it" }).getByText("migrate", { exact: true }).waitFor();
  // The line goes through the samples by keys, and the tree with it.
  const line = page.getByRole("slider", { name: "Sample" });
  await line.focus();
  await page.keyboard.press("Home");
  await page.getByText(/sample 1 of/).waitFor();
  const first = samples[0];
  expect(first?.tree?.sessions.length).toBe((first?.blocked ?? 0) + 1);
  expect(await line.getAttribute("aria-valuetext")).toContain(`, ${first?.blocked} waiting`);
  expect(await waits.count()).toBe((first?.blocked ?? 0) > 1 ? 1 : 0);
  await page.keyboard.press("ArrowRight");
  await page.waitForURL((url) => Date.parse(url.searchParams.get("at") ?? "") === Date.parse(samples[1]?.at ?? ""));
  await page.keyboard.press("End");
  await page.waitForURL((url) => !url.searchParams.has("at"));
  // A group opens to its sessions, and all sessions are a table.
  const group = page.locator("details[data-group]").last();
  await group.locator("summary").focus();
  await page.keyboard.press("Enter");
  await group
    .getByText(/^session/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: /as a table$/ }).click();
  const rows = page.getByRole("table").getByRole("row");
  expect(await rows.count()).toBeGreaterThan(3);
  expect(await violations(page)).toEqual([]);
});

testLong("a viewer sees the sessions, and not whose they are", async () => {
  const page = await visit(`/blocking/${id}`, { as: "viewer" });
  await page.getByRole("heading", { level: 1, name: /^Session \d+ (holds|held) up/ }).waitFor();
  await page.getByText("Users, applications, clients and statements are hidden for your role.").waitFor();
  const text = (await page.locator("main").textContent()) ?? "";
  for (const secret of ["billing", "10.4.2.17", "deploy", "UPDATE", "migrate"])
    expect(text, secret).not.toContain(secret);
  await page.goto("/blocking?range=30d");
  await page
    .getByRole("link", { name: /^Session \d+ (holds|held) up/ })
    .first()
    .waitFor();
  expect(await page.locator("main").textContent()).not.toContain("billing");
  await page.goto("/alerts?range=30d&status=all&q=blocks");
  await page
    .getByText(/session \d+, idle in transaction for .* blocks \d+ sessions/)
    .first()
    .waitFor();
  expect(await page.locator("main").textContent()).not.toContain("user bill");
});

testLong("the list, a server, an alert and the breakdown of waits lead to an episode", async () => {
  const { episode: e } = await detail();
  const title = /^billing (holds|held) up/;
  const page = await visit("/activity?range=30d");
  await page.getByRole("navigation", { name: "Activity" }).getByRole("link", { name: "Blocking" }).click();
  await page.getByRole("table", { name: "Blocking" }).getByRole("link", { name: title }).first().waitFor();
  expect(new URL(page.url()).searchParams.get("range")).toBe("30d");
  expect(await violations(page)).toEqual([]);
  await page.locator(`[data-episode="${id}"]`).getByRole("link").click();
  await page.waitForURL(new RegExp(`/blocking/${id}`));

  await page.goto(`/instances/${e.instance.id}`);
  await page.locator(`[data-episode="${id}"]`).getByRole("link", { name: title }).waitFor();

  const hour = new Date(Math.floor(Date.parse(e.peakAt) / 60_000) * 60_000).toISOString();
  const end = new Date(Date.parse(hour) + 60_000).toISOString();
  await page.goto(`/?range=6h&who=all&whoFrom=${hour}&whoTo=${end}`);
  const then = page.getByRole("dialog").getByRole("region", { name: "Blocking in this time" });
  await then.getByRole("link", { name: title }).first().click();
  await page.waitForURL(/\/blocking\//);

  await page.goto("/alerts?range=30d&status=all&q=blocks");
  await page
    .getByRole("link", { name: /app billing \(user bill, idle in transaction for .*\) blocks \d+ sessions/ })
    .first()
    .click();
  await page.getByRole("heading", { name: "Blocking tree" }).waitFor();
  await page.getByRole("link", { name: "The whole episode" }).click();
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
});

test("the dashboard names who holds sessions up now, one click from the tree", async () => {
  const { episode: e } = await detail();
  const lasts = { ...e, to: null, endSeen: false, endedBy: null };
  const page = await visit("/?range=6h", {
    before: (page) =>
      page.route(
        (url) => url.pathname === "/api/v1/blocking",
        async (route) => {
          const answer = (await (await route.fetch()).json()) as Schemas["BlockingPage"];
          await route.fulfill({ json: { ...answer, items: [lasts] } });
        },
      ),
  });
  await page
    .locator("[data-blocked]")
    .getByText(/^billing holds up \d+ sessions on public\.orders$/)
    .click();
  await page.waitForURL(new RegExp(`/blocking/${id}`));
  await page.locator("[data-root]").getByText("billing", { exact: true }).waitFor();
});

testLong(
  "nothing that was not looked at counts as nothing",
  async () => {
    const of = async (name: string) => {
      const answer = await apiAs("admin", "GET", `/api/v1/instances?q=${name}`);
      return ((await answer.json()) as { items: { id: string }[] }).items[0]?.id;
    };
    const page = await visit(`/blocking?range=24h&instanceId=${await of("demo-pg-identity-01")}`, {
      expected: [/ 404 /],
    });
    await page.getByText("No session waited for another in this window").waitFor();
    await page.goto(`/blocking?range=24h&instanceId=${await of("demo-pg-retired-01")}`);
    await page.getByText("No sessions were sampled in this window").waitFor();
    await page.goto("/blocking/01a20000-0000-7000-8000-000000000000");
    await page.getByText("This episode is not known, or belongs to another organization").waitFor();
  },
  90_000,
);

testLong("on a phone the cause comes first, and nothing is wider than the screen", async () => {
  const page = await visit(`/blocking/${id}`, { viewport: { width: 360, height: 800 } });
  await page.locator("[data-root]").waitFor();
  const top = async (of: string) => (await page.locator(of).first().boundingBox())?.y ?? Number.NaN;
  expect(await top("[data-root]")).toBeLessThan(await top("[data-waits]"));
  expect(await sideways(page)).toBe(false);
  await page.goto("/blocking?range=30d");
  await page.locator("[data-episode]").first().waitFor();
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
});

testLong("a tree of five hundred is drawn in groups, and those beyond are counted", async () => {
  const given = await detail();
  const sample = given.samples[0];
  const root = sample?.tree?.sessions.find(({ waitsFor }) => waitsFor.length === 0);
  const one = sample?.tree?.sessions.find(({ waitsFor }) => waitsFor.length > 0);
  if (!sample?.tree || !root || !one) throw new Error("the first sample of the demo's episode has no tree");
  // A hundred wait for the root, each of another application, and four wait for each of these but one.
  const waiting = Array.from({ length: 499 }, (_, i) => {
    const behind = i >= 100;
    const holder = behind ? `w${(i - 100) % 100}` : root.session;
    return { ...one, session: `w${i}`, application: behind ? "shop" : `app ${i}`, waitsFor: [holder] };
  });
  const tree = { ...sample.tree, sessions: [root, ...waiting], omitted: 9500 };
  const samples = [{ ...sample, blocked: 9999, tree }];
  const page = await visit(`/blocking/${id}`, {
    viewport: { width: 360, height: 800 },
    before: (page) =>
      page.route(
        (url) => url.pathname === `/api/v1/blocking/${id}`,
        (route) => route.fulfill({ json: { ...given, samples } }),
      ),
  });
  const direct = page.getByRole("region", { name: "Wait for it" });
  await direct.getByText("93 more sessions in 93 groups").waitFor();
  await page.getByRole("region", { name: "Wait behind those" }).locator('details[data-group="399"]').waitFor();
  expect(await page.locator("details[data-group]").count()).toBe(8);
  expect(await sideways(page)).toBe(false);
  await page.getByRole("button", { name: /as a table$/ }).click();
  await page.getByText("9,500 more waiting sessions were counted, and not kept.").waitFor();
  expect(await page.getByRole("table").getByRole("row").count()).toBe(501);
});

testLong("deadlocks are listed with both sides, on the page and on the server's", async () => {
  const { episode: e } = await detail();
  const side = (session: string, application: string | null, statement: string | null) => ({
    ...e.root,
    session,
    application,
    statement,
    mode: "ShareLock",
    object: "table public.orders",
  });
  const path = "**/api/v1/activity/deadlocks?*";
  const page = await visit("/blocking?range=30d");
  await page.route(path, async (route) => {
    const answer = await route.fetch();
    const { items: _, ...tile } = (await answer.json()) as Schemas["Deadlocks"];
    const items: Schemas["DatabaseDeadlocks"][] = [
      {
        instance: e.instance,
        database: { id: e.instance.id, name: "orders" },
        count: 3,
        values: [],
        statements: [],
        newestAt: e.from,
        source: "server",
        sessions: [side("51", "billing", "UPDATE orders SET total = ?"), side("52", null, null)],
        victims: ["52"],
      },
      {
        instance: e.instance,
        database: null,
        count: 1,
        values: [],
        statements: [],
        newestAt: null,
        source: null,
        sessions: [],
        victims: [],
      },
    ];
    await route.fulfill({ json: { ...tile, items } });
  });
  await page.reload();
  const deadlocks = page.getByRole("region", { name: "Deadlocks" });
  await deadlocks.getByText("3 deadlocks, orders").waitFor();
  await deadlocks.getByText("UPDATE orders SET total = ?").waitFor();
  const sides = await deadlocks.getByRole("listitem").allTextContents();
  expect(sides).toHaveLength(2);
  expect(sides[0]).toMatch(/^billing wanted ShareLock on public\.orders/);
  expect(sides[1]).toMatch(/\(ended by the server\)/);
  await deadlocks.getByText("1 deadlock, in a database that the server does not name").waitFor();
  await deadlocks.getByText(/^The sides are not known/).waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await sideways(page)).toBe(false);
  await page.goto(`/instances/${e.instance.id}?range=30d`);
  await page.getByRole("region", { name: "Deadlocks" }).getByText("3 deadlocks, orders").waitFor();
});
