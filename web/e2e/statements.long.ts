// What the servers execute: the list, one statement, and the ways to them from the dashboard.
import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, requestsTo, violations, visit } from "./browser";
import { entangled, settled, sideways } from "./pages";

type Statement = Schemas["Statement"];
type Detail = Schemas["StatementDetail"];

const minute = 60_000;
const to = Math.floor(Date.now() / minute) * minute - 5 * minute;
const at = (minutes: number) => new Date(to - (60 - minutes) * minute).toISOString();
const hour = `from=${at(0)}&to=${at(60)}`;

const statement = (changes: Partial<Statement> = {}): Statement => ({
  id: crypto.randomUUID(),
  instance: { id: crypto.randomUUID(), name: "pg-orders-01", engine: "postgresql", removed: false },
  database: { id: crypto.randomUUID(), name: "orders" },
  key: "-4021163012207461232/10",
  queryId: "-4021163012207461232",
  role: "postgres",
  text: "SELECT * FROM orders WHERE id = ?",
  calls: 12,
  totalMs: 9748.8,
  meanMs: 812.4,
  maxMs: 1204.25,
  share: 0.420229,
  firstSeenAt: "2026-01-02T08:15:00Z",
  ranBefore: false,
  lastSeenAt: at(60),
  watchedSince: "2026-01-02T08:14:00Z",
  new: false,
  previous: { calls: 14, totalMs: 980, meanMs: 70 },
  ...changes,
});

const pageOf = (items: Statement[], changes: Partial<Schemas["StatementPage"]> = {}): Schemas["StatementPage"] => ({
  from: at(0),
  to: at(60),
  previousFrom: at(-60),
  items,
  page: { number: 1, size: 20, totalItems: items.length, totalPages: 1 },
  ownStatements: 0,
  engines: ["postgresql"],
  partialEngines: [],
  incomplete: false,
  unavailable: [],
  ...changes,
});

const detailOf = (of: Statement, buckets = 60, value: (i: number) => number | null = (i) => 1 + (i % 7)): Detail => {
  const values = Array.from({ length: buckets }, (_, i) => value(i));
  return {
    statement: of,
    from: at(0),
    to: at(buckets),
    previousFrom: at(-buckets),
    bucketSize: "1m",
    bucketStarts: values.map((_, i) => at(i)),
    lastBucketPartial: false,
    generatedAt: at(buckets),
    series: { calls: values, totalMs: values, meanMs: values, maxMs: values },
    unavailable: [],
  };
};

type Answer = { status?: number; json: unknown };

/** answer has the list, and each of its statements, answered as the test says at the moment. */
async function answer(page: Page, list: () => Answer, one: (id: string) => Answer = () => ({ status: 404, json: {} })) {
  const give = (route: Route, { status = 200, json }: Answer) =>
    route.fulfill({ status, json, contentType: status === 200 ? "application/json" : "application/problem+json" });
  await page.route("**/api/v1/statements?*", (route) => give(route, list()));
  await page.route("**/api/v1/statements/*", (route) =>
    give(route, one(new URL(route.request().url()).pathname.split("/").pop() ?? "")),
  );
}

const problem = (status: number, code: string, errors: unknown[] = []): Answer => ({
  status,
  json: { status, code, title: "Refused", detail: "That was refused.", requestId: "r-1", errors },
});

/** texts has the organization keep texts, or not, whatever it does. */
const texts = (page: Page, statementTexts: "off" | "normalized") =>
  page.route("**/api/v1/session", async (route) => {
    const response = await route.fetch();
    const session = (await response.json()) as { organization?: object };
    await route.fulfill({
      response,
      json: { ...session, organization: { ...session.organization, statementTexts } },
    });
  });

const rows = (page: Page) => page.locator("[data-statement]");

test("window, filters, search and order live in the address, and are what is asked", async () => {
  const [dear, cheap] = [statement(), statement({ text: "DELETE FROM t", totalMs: 3, previous: null })];
  const page = await visit(`/statements?${hour}`, {
    expected: [/status of 404/],
    before: async (p) => {
      await texts(p, "normalized");
      await answer(p, () => ({
        json: pageOf([dear, cheap], { page: { number: 1, size: 20, totalItems: 57, totalPages: 3 } }),
      }));
    },
  });
  await expect.poll(() => rows(page).count()).toBe(2);
  expect(await rows(page).first().textContent()).toMatch(/before 980 ms.*42 %.*before 14.*before 70 ms/);
  await rows(page).first().getByText("11.6 times slower").or(rows(page).first().getByText("12 times slower")).waitFor();
  await rows(page).nth(1).getByText("not before").first().waitFor();

  await page.getByRole("button", { name: "Page 2" }).click();
  await page.waitForURL(/page=2/);
  await page.getByText("Slower than before", { exact: true }).click();
  await page.waitForURL((url) => url.searchParams.get("only") === "slower" && !url.searchParams.has("page"));
  await page.getByRole("button", { name: "Mean" }).click();
  await page.waitForURL(/sort=-meanMs/);
  await page.locator("[data-search]").fill("orders");
  await page.waitForURL(/q=orders/);
  await page.getByRole("button", { name: `Only database orders of pg-orders-01` }).first().click();
  await page.waitForURL(new RegExp(`databaseId=${dear.database.id}`));

  const asked = requestsTo(page, "/api/v1/statements");
  await page.reload();
  await expect.poll(() => rows(page).count()).toBe(2);
  expect([...(asked[0] as URL).searchParams].sort()).toEqual(
    [
      ...new URLSearchParams(
        `${hour}&only=slower&sort=-meanMs&q=orders&instanceId=${dear.instance.id}&databaseId=${dear.database.id}&page=1&pageSize=20`,
      ),
    ].sort(),
  );
  expect(await page.getByRole("columnheader", { name: "Mean" }).getAttribute("aria-sort")).toBe("descending");

  // to a statement with the window, and back to the list as it was
  const list = page.url();
  await page.getByRole("link", { name: "DELETE FROM t" }).click();
  await page.getByText("This statement is not known").waitFor();
  expect(new URL(page.url()).searchParams.get("from")).toBe(at(0));
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Statements" }).click();
  await expect.poll(() => new URL(page.url()).search.length).toBe(new URL(list).search.length);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => new URL(page.url()).searchParams.has("only")).toBe(false);
}, 60_000);

test("a statement has its text to copy, what it was before, and charts on one cursor", async () => {
  const s = statement({ text: "SELECT *\nFROM orders\nWHERE id = ?" });
  const page = await visit(`/statements/${s.id}?${hour}`, {
    permissions: ["clipboard-read", "clipboard-write"],
    before: (p) =>
      answer(
        p,
        () => ({ json: pageOf([s]) }),
        () => ({ json: detailOf(s) }),
      ),
  });
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Copy: Text, without values and comments" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(s.text);
  expect(await page.locator('[data-figure="Mean"]').textContent()).toBe("Mean812.4 msbefore 70 ms");
  const charts = page.getByRole("figure");
  expect(await charts.count()).toBe(3);
  await page.getByRole("slider", { name: "Calls, bucket" }).focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await expect
    .poll(() => charts.evaluateAll((all) => all.map((chart) => chart.getAttribute("data-hover-index"))))
    .toEqual(["1", "1", "1"]);
  const ways = page.getByRole("region", { name: "Servers that run it" });
  const href = (await ways.getByRole("link", { name: "Dashboard of this instance" }).getAttribute("href")) ?? "";
  const search = new URL(href, "http://x").searchParams;
  expect([search.get("instanceId"), search.get("from"), search.get("to")]).toEqual([s.instance.id, at(0), at(60)]);
});

const long = `SELECT \u202Eevil\u202C <img src=x onerror=alert(1)> ${"very_long_column_name,".repeat(400)}`.slice(
  0,
  8_192,
);

test("what a server made up is text, isolated and wrapped, on each page and in each state", async () => {
  const items = [
    statement({
      text: long,
      instance: { ...statement().instance, name: long.slice(0, 200) },
      database: { ...statement().database, name: long.slice(0, 63) },
    }),
    statement({
      text: null,
      key: null,
      previous: null,
      meanMs: null,
      maxMs: null,
      share: null,
      firstSeenAt: null,
      lastSeenAt: null,
    }),
    statement({ instance: { ...statement().instance, removed: true }, firstSeenAt: at(30), calls: 1e9, totalMs: 1e9 }),
  ] as [Statement, Statement, Statement];
  const of = (id: string) => items.find((item) => item.id === id) as Statement;
  const page = await visit(`/statements?${hour}`, {
    as: "member",
    before: async (p) => {
      await texts(p, "off");
      await answer(
        p,
        () => ({ json: pageOf(items, { incomplete: true, previousFrom: null }) }),
        (id) => ({ json: detailOf(of(id), id === items[1].id ? 1 : 60, id === items[2].id ? () => null : undefined) }),
      );
    },
  });
  await expect.poll(() => rows(page).count()).toBe(3);
  await page.getByText("Texts of statements are not kept. An administrator can have them kept").waitFor();
  expect(await page.locator("[data-search]").count(), "nothing to search in").toBe(0);
  await page.getByText("The window before is not kept").waitFor();
  await page
    .getByRole("alert")
    .getByText(/a database engine could not be read/)
    .waitFor();
  await page.getByText(`Statement ${items[1].id.slice(-8)}`).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page), "the list scrolls sideways at 360 px").toBe(false);
  expect(await entangled(page)).toEqual([]);
  expect(await violations(page)).toEqual([]);
  const said = ["1,204.3 ms", "No text is kept of this statement", "Its database was not sampled"];
  for (const [n, item] of items.entries()) {
    await page.goto(`/statements/${item.id}?${hour}`);
    if (n > 0)
      await page
        .getByText(said[n] as string)
        .first()
        .waitFor();
    await settled(page);
    expect(await sideways(page), `${n} scrolls sideways at 360 px`).toBe(false);
    expect(await entangled(page)).toEqual([]);
    expect(await page.locator("article img").count()).toBe(0);
    if (n < 2) expect(await violations(page)).toEqual([]);
  }
}, 60_000);

test("bad days: nothing, too old, nobody's, away while the page is open, ten thousand", async () => {
  const s = statement();
  let list: Answer = { json: pageOf([]) };
  let one: Answer = problem(404, "not_found");
  const page = await visit(`/statements?${hour}`, {
    expected: [/status of (404|422|503)/],
    before: (p) =>
      answer(
        p,
        () => list,
        () => one,
      ),
  });
  const again = () => page.getByRole("button", { name: "Refresh", exact: true }).click();
  await page.getByText("No statements in this window").waitFor();

  const rule = { in: "query", parameter: "only", code: "detail_not_kept", detail: "", params: { since: at(0) } };
  list = problem(422, "validation_failed", [rule]);
  await page.getByText("Slower than before", { exact: true }).click();
  await page.getByText("There is nothing to compare with").waitFor();
  list = { json: pageOf([s], { page: { number: 1, size: 20, totalItems: 10_000, totalPages: 500 } }) };
  await page.getByRole("button", { name: "Show all statements" }).click();
  await again();
  await page.getByText("1–20 of 10,000 statements").waitFor();
  await page.getByRole("button", { name: "Page 500" }).waitFor();
  list = problem(503, "unavailable");
  await again();
  await page.getByText("Not up to date").waitFor();
  expect(await rows(page).count(), "what was there stays").toBe(1);
  list = { json: pageOf([s]) };

  await page.goto(`/statements/${s.id}?${hour}`);
  await page.getByText("This statement is not known, or belongs to another organization").waitFor();
  one = { json: detailOf(s) };
  await again();
  await page.getByRole("figure").first().waitFor();
  one = problem(503, "unavailable");
  await again();
  await page.getByText("Not up to date").waitFor();
  expect(await page.getByRole("figure").count(), "what was there stays").toBe(3);
  await page.goto("/statements?instanceId=");
  await page.getByText("No statement matches").waitFor();
}, 60_000);

test("the dashboard leads from a figure to a statement, and says how much statements explain", async () => {
  const began = Math.floor(Date.now() / (60 * minute)) * 60 * minute - 3 * 60 * minute;
  const [from, until] = [0, 60].map((m) => new Date(began + m * minute).toISOString());
  const [whoFrom, whoTo] = [30, 31].map((m) => new Date(began + m * minute).toISOString());
  let coverage: Schemas["Contributors"]["coverage"] = {
    attributedMs: 23_198.9,
    busyMs: 24_010.5,
    share: 0.9662,
    instances: 2,
  };
  const page = await visit(`/?from=${from}&to=${until}&who=average&whoFrom=${whoFrom}&whoTo=${whoTo}&whoBy=statement`, {
    before: async (p) => {
      await texts(p, "off");
      await p.route("**/query-performance/contributors?*", async (route) => {
        const response = await route.fetch();
        const made = (await response.json()) as Schemas["Contributors"];
        const [item, ...rest] = made.items;
        if (item?.statement) item.statement.text = "\nSELECT ?\nFROM t";
        for (const other of rest) if (other.statement) other.statement.text = null;
        await route.fulfill({ response, json: { ...made, coverage } });
      });
    },
  });
  const panel = page.getByRole("dialog", { name: "Breakdown: Query performance" });
  const link = panel.locator("[data-who-row]").first().getByRole("link").first();
  expect(await link.textContent()).toBe("SELECT ?");
  const href = new URL((await link.getAttribute("href")) ?? "", "http://x");
  expect(href.pathname).toMatch(/^\/statements\/[0-9a-f-]{36}$/);
  expect([href.searchParams.get("from"), href.searchParams.get("to")]).toEqual([
    new Date(began + 25.5 * minute).toISOString(),
    new Date(began + 35.5 * minute).toISOString(),
  ]);
  await panel
    .locator("[data-who-row]")
    .nth(1)
    .getByText(/^Statement [0-9a-f]{8}$/)
    .waitFor();
  expect(await panel.locator("[data-who-row]").nth(1).getByRole("link").nth(1).getAttribute("href")).toContain(
    "instanceId=",
  );
  expect(await panel.locator("[data-coverage]").textContent()).toBe(
    "Statements explain 96.6 % of the time that 2 servers say they were executing: 23.2 s of 24 s. Servers that cannot tell are left out.",
  );
  const tile = page.getByRole("region", { name: "Query performance" }).locator("[data-coverage]");
  await expect.poll(() => tile.textContent()).toMatch(/96\.6 % explained by statements, on 2 of \d+ servers/);
  expect(await violations(page)).toEqual([]);
  coverage = null;
  await page.reload();
  await panel.getByText("No server here reports its execution time").waitFor();
  await page.getByText("unknown how much statements explain").waitFor();
});

test("the demo's statements are there as the API has them, and viewers see no texts", async () => {
  const began = Math.floor(Date.now() / (60 * minute)) * 60 * minute - 3 * 60 * minute;
  const query = `from=${new Date(began).toISOString()}&to=${new Date(began + 60 * minute).toISOString()}`;
  const answer = await apiAs("member", "GET", `/api/v1/statements?${query}`);
  const { items, page: counted } = (await answer.json()) as Schemas["StatementPage"];
  const first = items[0] as Statement;
  expect(first.text, "a text in the demo").not.toBeNull();
  const page = await visit(`/statements?${query}`, { as: "member" });
  await expect
    .poll(() => rows(page).evaluateAll((all) => all.map((row) => row.getAttribute("data-statement"))))
    .toEqual(items.map(({ id }) => id));
  await page.getByText(`of ${counted.totalItems.toLocaleString("en-GB")} statements`).waitFor();
  await rows(page).first().getByRole("link").first().click();
  await page
    .getByRole("region", { name: "Text, without values and comments" })
    .getByText(first.text ?? "")
    .waitFor();
  await expect.poll(() => page.getByRole("figure").count()).toBe(3);
  const viewer = await visit(`/statements?${query}`, { as: "viewer" });
  await viewer.getByText("Texts of statements are not shown to viewers").waitFor();
  await rows(viewer)
    .first()
    .getByText(`Statement ${first.id.slice(-8)}`)
    .waitFor();
});
