// What changed, on the charts: marks that the API takes are flags on every chart that is about their servers.
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, fed, readable, requestsTo, testLong, unique, violations, visit } from "./browser";
import { episode, everyPage } from "./pages";

const marks = "/api/v1/marks";
const tags = { env: "prod", team: "payments" };

async function set(text: string, at: number, more: object = { tags }): Promise<Schemas["Mark"]> {
  const made = await apiAs("admin", "POST", marks, { text, at: new Date(at).toISOString(), ...more });
  expect(made.status).toBe(201);
  return (await made.json()) as Schemas["Mark"];
}

const minute = 60_000;

test("a mark is a flag on each chart of the dashboard, and says what it is to pointer, keyboard and table", async () => {
  const text = unique("deploy shop");
  await set(text, Date.now() - 200 * minute);
  const page = await visit("/?range=6h", { measured: true });
  const asked = requestsTo(page, marks);
  const charts = page.locator("[data-chart]");
  const group = charts.first().getByRole("group", { name: /: what changed$/ });
  await group.waitFor();
  for (const chart of await charts.all()) await chart.locator(".flag button").first().waitFor();
  expect(asked.length).toBeLessThanOrEqual(1);
  // The pointer, and from one flag to the next by keys; near ones are joined, so that one of the flags has it.
  const flags = group.getByRole("button");
  const note = group.getByRole("tooltip");
  let found = 0;
  await group.locator("button[tabindex='0']").focus();
  await page.keyboard.press("Home");
  for (let i = 0; i < (await flags.count()); i++) {
    await note.waitFor();
    if ((await note.textContent())?.includes(text)) found++;
    expect(await flags.nth(i).evaluate((flag) => flag === document.activeElement)).toBe(true);
    await page.keyboard.press("ArrowRight");
  }
  expect(found).toBe(1);
  await page.keyboard.press("Escape");
  await note.waitFor({ state: "detached" });
  await flags.first().hover();
  await note.waitFor();
  expect(await violations(page)).toEqual([]);
  // One stop of the Tab key, after the chart's own.
  await charts.first().getByRole("slider").focus();
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.closest(".flags") !== null)).toBe(true);
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.closest(".flags") ?? null)).toBeNull();
  await page.getByRole("button", { name: "Wait events: more" }).click();
  await page.getByRole("menuitem", { name: "Show as table" }).click();
  const table = page.getByRole("region", { name: "Wait events, as a table" });
  await table.getByRole("columnheader", { name: "Changes" }).waitFor();
});

testLong("every page with a chart shows what changed", async () => {
  const pages = await everyPage();
  const at = (name: string) => pages.find((page) => page.name === name)?.path ?? "";
  const { items } = (await (await apiAs("admin", "GET", "/api/v1/instances?q=demo-pg-orders-01")).json()) as {
    items: { id: string }[];
  };
  const held = await episode();
  const detail = (await (await apiAs("admin", "GET", `/api/v1/blocking/${held}`)).json()) as Schemas["BlockingDetail"];
  await set("everywhere", Date.now() - 30 * minute, {});
  await set("at the beginning", Date.parse(detail.episode.from), {});
  const page = await visit("/healthz");
  for (const path of ["/activity", `/instances/${items[0]?.id}`, at("statement"), `/blocking/${held}`]) {
    await page.goto(path);
    await page.locator(".flag button").first().waitFor();
  }
});

test("a mark stands only where its servers are, and not on those of others", async () => {
  const text = unique("deploy nowhere");
  const { instanceCount } = await set(text, Date.now() - 50 * minute, { tags: { app: "no-such-app" } });
  expect(instanceCount).toBe(0);
  const from = new Date(Date.now() - 60 * minute).toISOString();
  const list = (await (
    await apiAs("viewer", "GET", `${marks}?from=${from}&to=${new Date().toISOString()}`)
  ).json()) as Schemas["MarkList"];
  expect(list.items.map((mark) => mark.text)).not.toContain(text);
});

test("a release and a failover are flags on the charts of their server", async () => {
  const name = unique("e2e-release").replace(" ", "-");
  const at = (minutes: number) => new Date(Date.now() - minutes * minute).toISOString();
  const databases = [{ externalId: "shop", name: "shop", createdAt: at(3000) }];
  const server = { externalId: name, name, engine: "postgresql", host: name, active: true, createdAt: at(3000) };
  const made = await fed<{ instances: { id: string }[] }>("/ingest/v1/fleet", {
    instances: [{ ...server, databases }],
  });
  const id = made.instances[0]?.id ?? "";
  try {
    await readable(`/api/v1/instances/${id}`);
    const statements = (minutes: number, keys: string[]) => ({
      instance: name,
      database: "shop",
      at: at(minutes),
      intervalSeconds: 60,
      statements: keys.map((key) => ({ key, calls: 1, totalMs: 1 })),
    });
    const role = (minutes: number, role: string) => ({
      instance: name,
      at: at(minutes),
      role,
      systems: [name],
      condition: "works",
      timeline: role === "primary" ? 2 : 1,
    });
    const fresh = ["a", "b", "c", "d", "e", "f"];
    await fed("/ingest/v1/samples", {
      statements: [statements(1700, ["old"]), statements(100, fresh)],
      replication: [role(200, "standby"), role(150, "primary")],
    });
    const page = await visit(`/instances/${id}?range=6h`);
    const charts = page.getByRole("group", { name: /: what changed$/ });
    await charts.first().getByRole("button").first().waitFor();
    for (const chart of await charts.all()) {
      const said = []; // marks of other tests may be joined with these
      for (const flag of await chart.getByRole("button").all()) {
        await flag.focus();
        said.push(await chart.getByRole("tooltip").textContent());
      }
      expect(said.join()).toMatch(/Failover.*From standby to primary, timeline 2/);
      expect(said.join()).toMatch(/Release.*6 new statements in database shop/);
    }
  } finally {
    await apiAs("admin", "DELETE", `/api/v1/instances/${id}`);
  }
});

testLong("a maintenance window is a band on every chart of its server, and says until when", async () => {
  const { items } = (await (await apiAs("admin", "GET", "/api/v1/instances?q=demo-pg-orders-01")).json()) as {
    items: { id: string }[];
  };
  const at = Date.now() - 180 * minute;
  const window: Schemas["Mark"] = {
    id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1e01",
    at: new Date(at).toISOString(),
    until: new Date(at + 60 * minute).toISOString(),
    kind: "maintenance",
    text: "Patch day",
    tags: {},
    instance: null,
    instanceCount: 1,
    by: null,
    token: null,
    mayRemove: false,
  };
  const page = await visit(`/instances/${items[0]?.id}?range=6h`, {
    before: (page) =>
      page.route("**/api/v1/marks?*", (route) =>
        route.fulfill({
          json: { from: window.at, to: window.until, items: [window], complete: true, unavailable: [] },
        }),
      ),
  });
  const charts = page.locator("[data-chart]");
  await charts.first().locator(".flag-band").waitFor();
  const band = await charts.first().locator(".flag-band").boundingBox();
  const plot = await charts.first().locator(".flags").boundingBox();
  expect(Math.abs((band?.width ?? 0) / (plot?.width ?? 1) - 1 / 6)).toBeLessThan(0.02);
  expect(await page.locator(".flag-band").count()).toBe(await page.locator(".flags").count());
  await charts.first().locator(".flag button").first().focus();
  const note = charts.first().getByRole("tooltip");
  await note.waitFor();
  expect(await note.textContent()).toMatch(/^Maintenance window .* to .*Patch day1 server$/);
  expect(await violations(page)).toEqual([]);
});
