// What sessions did: the chart, the tables of the window and of a bucket, and the ways there, on the demo.
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { latency } from "../src/dashboard/units";
import { apiAs, requestsTo, testLong, violations, visit } from "./browser";
import { settled, sideways } from "./pages";

type Answer = Schemas["Activity"];

const minute = 60_000;
/** An hour that is over, from three hours ago on: sixty buckets of a minute. */
const first = Math.floor(Date.now() / (60 * minute)) * 60 * minute - 3 * 60 * minute;
const at = (minutes: number) => new Date(first + minutes * minute).toISOString();
const hour = `from=${at(0)}&to=${at(60)}`;
const states = "&state=cpu&state=waiting&state=other";

const activity = async (query: string): Promise<Answer> => {
  const answer = await apiAs("admin", "GET", `/api/v1/activity?bucketSize=1m&${query}`);
  expect(answer.status, query).toBe(200);
  return (await answer.json()) as Answer;
};

const chart = (page: Page) => page.getByRole("figure", { name: /^Average (active )?sessions$/ });
const stack = (page: Page) => page.getByLabel("by", { exact: true });
const legend = (page: Page): Promise<string[]> => chart(page).locator(".chart-key").allTextContents();
const rows = (page: Page): Locator => page.locator("[data-top]");
const averages = (page: Page) => page.locator("[data-top] [data-average]").allTextContents();
const few = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const tenths = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
/** written is a figure as the tables have it. */
const written = (items: Answer["items"]) =>
  items.map(({ average }) => (average < 0.05 ? "<0.1" : tenths.format(average)));

test("the chart and the tables show what the API says of the demo, by each dimension that is chosen", async () => {
  const page = await visit(`/activity?${hour}`);
  await chart(page).locator(".u-over").waitFor();
  expect(await legend(page)).toEqual(["CPU", "Locks", "Lightweight locks", "I/O", "Client / network", "Other"]);
  const byStatement = await activity(`${hour}&by=statement&limit=10${states}`);
  await expect.poll(() => averages(page)).toEqual(written(byStatement.items));
  const texts = byStatement.items.map(({ statement }) => statement?.text?.split("\n")[0]);
  expect(await rows(page).locator("code").allTextContents()).toEqual(texts);

  await stack(page).selectOption("user");
  const byUser = await activity(`${hour}&by=user&limit=6${states}`);
  await expect.poll(() => legend(page)).toEqual(byUser.items.map(({ name }) => name));
  expect(byUser.items.map(({ name }) => name)).toContain("shop");
  await page
    .getByRole("region", { name: /^Most active/ })
    .getByText("Client", { exact: true })
    .click();
  const byClient = await activity(`${hour}&by=client&limit=10${states}`);
  await expect.poll(() => averages(page)).toEqual(written(byClient.items));
  // The heading of a short table has the chart show that dimension.
  await few(page, "Application").getByRole("button", { name: "Application", exact: true }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get("by")).toBe("application");
  await expect.poll(() => legend(page)).toContain("checkout");
  expect(new URL(page.url()).searchParams.get("top")).toBe("client");

  await settled(page);
  const asked = requestsTo(page, "/api/v1/activity");
  await page.reload();
  // One for the chart, one for the table, and one for each of the six beside it.
  const each = ["application", "application", "client", "database", "instance", "user", "waitClass", "waitEvent"];
  const dimensions = () => {
    const activities = asked.filter(({ pathname }) => pathname === "/api/v1/activity");
    return activities.map((url) => url.searchParams.get("by")).sort();
  };
  await expect.poll(dimensions).toEqual(each);
  await settled(page);
  expect(dimensions(), "none is asked for twice").toEqual(each);
  expect(await violations(page)).toEqual([]);
}, 90_000);

test("a bucket that is clicked is what the tables are about, until it is put away", async () => {
  const page = await visit(`/activity?${hour}`);
  const plot = chart(page).locator(".u-over");
  await plot.waitFor();
  await few(page, "User").locator("li").first().waitFor();
  const box = await plot.boundingBox();
  if (!box) throw new Error("no plot");
  await page.mouse.click(box.x + (box.width * 30.5) / 60, box.y + box.height / 2);
  await expect.poll(() => new URL(page.url()).searchParams.get("pickedFrom")).toBe(at(30));
  expect(new URL(page.url()).searchParams.get("pickedTo")).toBe(at(31));
  const then = await activity(`from=${at(30)}&to=${at(31)}&by=statement&limit=10${states}`);
  await expect.poll(() => averages(page)).toEqual(written(then.items));
  const said = page.locator("[data-picked]");
  expect(await said.textContent()).toContain(`${tenths.format(then.average ?? Number.NaN)} active sessions`);
  // Beside it stand what the statements cost then, and their average in the window.
  const column = (name: string) => page.locator(`[data-top] [data-column="${name}"]`).allTextContents();
  const whole100 = await activity(`${hour}&by=statement&limit=100${states}`);
  // A statement that is not among the first hundred of the window has no average there.
  const inWindow = then.items.map(({ key }) => whole100.items.filter((item) => item.key === key));
  expect(inWindow.flat().length).toBeGreaterThan(0);
  await expect.poll(() => column("1 h average")).toEqual(inWindow.map((found) => written(found)[0] ?? "–"));
  const servers = then.items.map(({ instance }) => `&instanceId=${instance?.id}`).join("");
  const cost = await apiAs(
    "admin",
    "GET",
    `/api/v1/statements?from=${at(30)}&to=${at(31)}&pageSize=100&own=include${servers}`,
  );
  const statements = ((await cost.json()) as Schemas["StatementPage"]).items;
  const means = then.items.map(({ key }) => statements.find(({ id }) => id === key)?.meanMs ?? null);
  expect(means.filter((mean) => mean !== null).length).toBeGreaterThan(0);
  await expect.poll(() => column("Mean")).toEqual(means.map((mean) => (mean === null ? "–" : latency(mean))));
  const calls =
    statements.find(({ id }) => id === then.items[means.findIndex((mean) => mean !== null)]?.key)?.calls ?? 0;
  expect((await column("Calls/s")).some((text) => Math.abs(Number(text) - calls / 60) <= 0.5)).toBe(true);
  const users = await activity(`from=${at(30)}&to=${at(31)}&by=user&limit=3${states}`);
  await expect
    .poll(() => few(page, "User").locator("li > :last-child").allTextContents())
    .toEqual(written(users.items));
  expect(await page.locator(".chart-picked").count()).toBe(1);
  expect(await sideways(page)).toBe(false);

  await said.getByRole("button", { name: /back to the whole window$/ }).click();
  await expect.poll(() => new URL(page.url()).searchParams.has("pickedFrom")).toBe(false);
  const whole = await activity(`${hour}&by=statement&limit=10${states}`);
  await expect.poll(() => averages(page)).toEqual(written(whole.items));

  // A drag zooms to whole buckets.
  await page.mouse.move(box.x + (box.width * 10.5) / 60, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + (box.width * 20.5) / 60, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => new URL(page.url()).searchParams.get("from")).toBe(at(10));
  expect(new URL(page.url()).searchParams.get("to")).toBe(at(21));
}, 60_000);

testLong("with idle sessions, the waits are those of the dashboard's tile", async () => {
  const page = await visit(`/activity?${hour}`);
  await page.getByText("Idle sessions are left out.").waitFor();
  await page.getByRole("switch", { name: "With idle sessions" }).check({ force: true });
  await page.getByText(/the waits here are those of the dashboard/).waitFor();
  await chart(page).locator(".u-over").waitFor();
  const all = await activity(`${hour}&by=waitClass&limit=6`);
  const tile = (await (
    await apiAs("admin", "GET", `/api/v1/metrics/wait-events?bucketSize=1m&${hour}`)
  ).json()) as Schemas["WaitEvents"];
  expect(all.series.clientNetwork).toEqual(tile.series.clientNetwork);
  expect(Math.max(...(tile.series.clientNetwork as number[]))).toBeGreaterThan(20);
  await expect
    .poll(async () => Number(await chart(page).locator('[data-series="clientNetwork"] [data-readout]').textContent()))
    .toBeCloseTo(tile.series.clientNetwork.at(-1) ?? Number.NaN, 0);
});

testLong(
  "the dashboard, a server and an alert lead there in one click",
  async () => {
    const page = await visit("/?range=6h");
    await page.getByRole("region", { name: "Wait events" }).getByRole("link", { name: "Activity" }).click();
    await chart(page).locator(".u-over").waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/activity?range=6h");
    await page.goto("/?range=6h");
    await page.getByRole("region", { name: "Connections" }).getByRole("link", { name: "Activity" }).click();
    await page.waitForURL("/activity?range=6h&idle=include");

    const answer = await apiAs("admin", "GET", "/api/v1/instances?q=demo-pg-orders-01");
    const id = ((await answer.json()) as Schemas["InstancePage"]).items[0]?.id;
    await page.goto(`/instances/${id}?range=6h`);
    await page.getByRole("link", { name: "Activity of this server" }).click();
    await page.waitForURL(`/activity?range=6h&instanceId=${id}`);
    await chart(page).locator(".u-over").waitFor();

    const alerts = await apiAs(
      "admin",
      "GET",
      "/api/v1/alerts?status=all&q=connections%20as%20an%20hour%20ago&pageSize=1",
    );
    const alert = ((await alerts.json()) as Schemas["AlertPage"]).items[0]?.id;
    await page.goto(`/alerts/${alert}`);
    await page.getByRole("link", { name: "What its sessions did at that time" }).click();
    await page.waitForURL(/\/activity\?.*idle=include/);
    await page.goto(`/?range=6h&who=all&whoFrom=${at(0)}&whoTo=${at(1)}&whoBy=application`);
    const breakdown = page.getByRole("dialog", { name: "Breakdown: Wait events" });
    await breakdown.getByText("checkout", { exact: true }).waitFor();
    await breakdown.getByRole("link", { name: "Activity in this time" }).click();
    await page.waitForURL(/pickedFrom=/);
  },
  60_000,
);

testLong(
  "a click on a name narrows all of the page to it, and its chip widens it again",
  async () => {
    const page = await visit(`/activity?${hour}&top=user`);
    const only = page.getByRole("list", { name: "Only these sessions" });
    await rows(page).getByRole("button", { name: "Only user shop" }).click();
    await only.getByText("shop").waitFor();
    await few(page, "Application").getByRole("button", { name: "Only application checkout" }).click();
    const address = () =>
      [...new URL(page.url()).searchParams].filter(([name]) => !["from", "to", "top"].includes(name));
    await expect.poll(address).toEqual([
      ["user", "shop"],
      ["application", "checkout"],
    ]);
    const narrowed = await activity(`${hour}&by=user&limit=10&user=shop&application=checkout${states}`);
    await expect.poll(() => averages(page)).toEqual(written(narrowed.items));
    expect(narrowed.items.map(({ name }) => name)).toEqual(["shop"]);
    await page
      .getByRole("region", { name: /^Most active/ })
      .getByText("State", { exact: true })
      .click();
    await page.getByRole("button", { name: "Only state Waiting" }).click();
    await only.getByText("Waiting").waitFor();
    const waiting = await activity(`${hour}&by=state&limit=10&user=shop&application=checkout&state=waiting`);
    await expect.poll(() => averages(page)).toEqual(written(waiting.items));
    // Bars have the classes of waits, as the chart has them.
    await expect.poll(() => rows(page).locator("[data-class=locks]").count()).toBe(1);
    expect(await rows(page).locator("[data-class=cpu]").count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    for (const name of ["state Waiting", "user shop", "application checkout"]) {
      await only.getByRole("button", { name: `Remove the filter: ${name}` }).click();
    }
    await expect.poll(() => only.count()).toBe(0);
    expect(address()).toEqual([]);
    // A viewer's page leaves people in an address out.
    const theirs = await visit(`/activity?${hour}&user=shop&state=cpu`, { as: "viewer" });
    await theirs.getByRole("button", { name: "Remove the filter: state On CPU" }).waitFor();
    expect(await theirs.getByText("shop").count()).toBe(0);
  },
  90_000,
);

test("a viewer is offered neither users nor applications nor clients, and is refused nothing", async () => {
  const page = await visit(`/activity?${hour}&by=user&top=client`, { as: "viewer" });
  await few(page, "Database").locator("li").first().waitFor();
  expect(await stack(page).inputValue()).toBe("waitClass");
  const choices = await stack(page).locator("option").allTextContents();
  for (const name of ["user", "application", "client"]) expect(choices).not.toContain(name);
  expect(await page.getByRole("radio").count()).toBe(5);
  await page.getByText("Texts of statements are not shown to viewers.").waitFor();
  await page.goto(`/?range=6h&who=all&whoFrom=${at(0)}&whoTo=${at(1)}&whoBy=user`);
  const by = page.getByRole("dialog", { name: "Breakdown: Wait events" }).getByLabel("By");
  expect(await by.inputValue()).toBe("instance");
  expect(await by.locator("option").allTextContents()).toEqual([
    ...["instance", "database", "wait event", "statement", "kind of wait"],
  ]);
});

/** answered has the page's activity answered with a change of what the demo says. */
const answered = (change: (answer: Answer) => Partial<Answer>) => (page: Page) =>
  page.route(
    (url) => url.pathname === "/api/v1/activity",
    async (route) => {
      const answer = (await (await route.fetch()).json()) as Answer;
      await route.fulfill({ json: { ...answer, ...change(answer) } });
    },
  );

testLong(
  "nothing sampled, nobody active, and nothing kept are told apart",
  async () => {
    const none = { items: [], others: 0, series: {}, engines: [] };
    let page = await visit(`/activity?${hour}`, { before: answered(() => ({ ...none, average: null })) });
    await page.getByText("No sessions were sampled in this window").waitFor();
    page = await visit(`/activity?${hour}`, {
      before: answered(({ engines }) => ({ ...none, engines, average: 0 })),
    });
    await page.getByText("No session was active in this window").waitFor();
    await page.getByRole("button", { name: "Show idle sessions" }).click();
    await page.getByText("No session was open in this window").waitFor();
    expect(await page.locator("[data-top]").count()).toBe(0);
    page = await visit(`/activity?${hour}&by=user&top=client`, {
      before: (page) =>
        page.route("**/api/v1/session", async (route) => {
          const session = (await (await route.fetch()).json()) as { organization: object };
          await route.fulfill({
            json: { ...session, organization: { ...session.organization, sessionDetail: "off" } },
          });
        }),
    });
    await page.getByText("The users of sessions are not kept").waitFor();
    await page.getByText("The clients of sessions are not kept").waitFor();
    await page.getByRole("link", { name: "Change this in Settings" }).first().click();
    await page.getByLabel("Users of sessions").first().waitFor();
  },
  60_000,
);

testLong("the cores are a line where all hosts tell theirs, and part of a fleet's are none", async () => {
  const cored = (coreHosts: number) => answered(() => ({ cores: 32, coreHosts }));
  const list = await apiAs("admin", "GET", "/api/v1/instances?q=demo-pg-orders-01");
  const id = ((await list.json()) as Schemas["InstancePage"]).items[0]?.id;
  let page = await visit(`/activity?${hour}&instanceId=${id}`, {
    before: answered(() => ({ cores: 8, coreHosts: 1 })),
  });
  await page.locator(".chart-level", { hasText: "8 cores" }).waitFor();
  page = await visit(`/activity?${hour}`, { before: cored(2) });
  await page.getByText("32 cores on 2 hosts. The other hosts here report no number of cores.").waitFor();
  await settled(page);
  expect(await page.locator(".chart-level").count()).toBe(0);
});

testLong("on a phone nothing is wider than the screen", async () => {
  const page = await visit(`/activity?${hour}&by=statement`, { viewport: { width: 360, height: 800 } });
  await few(page, "User").locator("li").first().waitFor();
  await settled(page);
  expect(await sideways(page)).toBe(false);
  await page.getByRole("combobox", { name: "Most active" }).selectOption("waitEvent");
  await rows(page).getByText("on CPU", { exact: true }).waitFor();
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
});

testLong("where the system forces its colors, series keep theirs", async () => {
  const page = await visit(`/activity?${hour}`, { forcedColors: "active" });
  await chart(page).locator(".u-over").waitFor();
  const hues = await chart(page).evaluate((figure) => {
    const canvas = figure.querySelector("canvas") as HTMLCanvasElement;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy?.drawImage(canvas, 0, 0);
    const data = copy?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
    let colored = 0;
    for (let i = 0; i < data.length; i += 4) {
      const [r = 0, g = 0, b = 0] = data.subarray(i, i + 3);
      if (Math.max(r, g, b) - Math.min(r, g, b) > 40) colored++;
    }
    const swatches = [...figure.querySelectorAll(".chart-swatch")].map((s) => getComputedStyle(s).backgroundColor);
    return { colored: colored / (data.length / 4), swatches: new Set(swatches).size };
  });
  expect(hues.swatches).toBe(6);
  expect(hues.colored).toBeGreaterThan(0.1);
});
