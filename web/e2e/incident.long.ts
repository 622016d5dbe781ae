// An incident on a real PostgreSQL: twelve sessions behind the lock of one statement. How soon it shows on the dashboard,
// how many clicks it is from the spike to the statement that blocks, and whether the figures are the server's own. It takes
// two minutes, which is how often statements are read, so `make test-all` has it.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { enter, visit } from "./browser";
import { adminEmail, type Started, start } from "./muster";
import { newest, postgres, type Watched } from "./postgres";
import { signIn } from "./server";
import { chart, plotOf, type Title } from "./trends";

let muster: Started;
let session: string;
let watched: Watched;

beforeAll(async () => {
  [muster, watched] = await Promise.all([start(), postgres()]);
  session = await signIn(muster.url, adminEmail);
}, 120_000);
afterAll(() => Promise.all([muster?.stop(), watched?.stop()]));

async function api<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  const answer = await fetch(`${muster.url}${path}`, {
    method,
    headers: { "Content-Type": "application/json", Cookie: `__Host-muster_session=${session}`, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
  return { ...((await answer.json()) as T), etag: answer.headers.get("ETag") };
}

let known: Promise<string> | undefined;

/** shop is the id of the watched server: a second connection to it is refused. */
const shop = () => {
  const dsn = `postgres://postgres@127.0.0.1:${watched.port}/postgres`;
  known ??= api<{ id: string }>("POST", "/api/v1/instances", { name: "shop", engine: "postgresql", dsn }).then(
    ({ id }) => id,
  );
  return known;
};

const ended = (child: ReturnType<Watched["run"]>) => new Promise((resolve) => child.once("exit", resolve));

/** peak is the bucket in which a tile is highest, as an answer of the API has it. */
const peak = ({ bucketStarts, values }: { bucketStarts: string[]; values: (number | null)[] }) => {
  const highest = Math.max(...values.map((value) => value ?? 0));
  return { at: bucketStarts[values.indexOf(highest)] as string, highest };
};

/** clickBucket clicks a tile where a bucket is. */
async function clickBucket(page: Page, title: Title, at: string, starts: string[]) {
  await plotOf(page, title).scrollIntoViewIfNeeded();
  const box = await plotOf(page, title).boundingBox();
  if (!box) throw new Error(`${title} has no plot`);
  // The middle of the bucket; the axis is the window, which may begin and end within one.
  for (let share = 0; share <= 1; share += 0.004) {
    await page.mouse.move(box.x + box.width * share, box.y + 20);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const index = await chart(page, title).getAttribute("data-hover-index");
    if (index === String(starts.indexOf(at))) return page.mouse.click(box.x + box.width * (share + 0.004), box.y + 20);
  }
  throw new Error(`no bucket of ${title} begins at ${at}`);
}

test.skipIf(!newest)(
  "a lock storm leads from its spike to the statement that blocks and its server in two clicks",
  async () => {
    const { etag } = await api<{ etag: string }>("GET", "/api/v1/organization");
    await api("PATCH", "/api/v1/organization", { statementTexts: "normalized" }, { "If-Match": etag });
    await ended(watched.run("pgbench", "-i", "-s", "1", "-q", "postgres"));
    await ended(watched.run("pgbench", "-n", "-c", "4", "-t", "50", "postgres"));
    const id = await shop();
    const window = () =>
      `from=${new Date(Date.now() - 15 * 60_000).toISOString()}&to=${new Date().toISOString()}&bucketSize=1m&instanceId=${id}`;
    type Waits = Pick<Schemas["WaitEvents"], "bucketStarts" | "series">;
    const waits = () => api<Waits>("GET", `/api/v1/metrics/wait-events?${window()}`);
    // It is measured: the statements' first list, which is a basis, is read with the first sessions.
    await expect
      .poll(async () => (await waits()).series.locks.some((value) => value !== null), { timeout: 60_000 })
      .toBe(true);

    // pgbench executes what will be blocked, and has before.
    const ran = (like: string) =>
      watched
        .sql(
          `SELECT coalesce(sum(calls), 0), coalesce(sum(total_exec_time), 0) FROM pg_stat_statements WHERE query LIKE '${like}'`,
        )
        .split("|")
        .map(Number) as [number, number];
    const ofBlocked = "UPDATE pgbench_branches SET%bid = $2";
    const before = ran(ofBlocked);
    const began = Date.now();
    const change = "UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1";
    // It sleeps when it has changed the row, so that it holds the lock as long as it runs.
    const blocker = watched.run("psql", "-qc", `${change} RETURNING pg_sleep(25)`);
    await expect
      .poll(() => watched.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"))
      .toBe("1");
    const blocked = Array.from({ length: 12 }, () => watched.run("psql", "-qc", change));
    const waiting = () => Number(watched.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"));
    await expect.poll(waiting).toBe(12);
    await Promise.all([blocker, ...blocked].map(ended));

    const after = ran(ofBlocked);
    const want = {
      blocked: { calls: after[0] - before[0], totalMs: after[1] - before[1] },
      blocker: { calls: 1, totalMs: ran("UPDATE pgbench_branches SET%pg_sleep%")[1] },
    };
    expect(want.blocked.calls).toBe(12);
    type Queries = Pick<Schemas["QueryPerformance"], "bucketStarts" | "series">;
    const queries = () => api<Queries>("GET", `/api/v1/metrics/query-performance?${window()}`);
    const slowest = async () => {
      const { bucketStarts, series } = await queries();
      return { ...peak({ bucketStarts, values: series.maxLatencyMs }), bucketStarts };
    };
    await expect
      .poll(async () => (await slowest()).highest, { timeout: 90_000, interval: 1_000 })
      .toBeGreaterThan(5_000);

    const page = await visit(`/?range=15m`, {
      as: null,
      baseURL: muster.url,
      before: (page) => enter(page.context(), muster.url, session),
    });
    await plotOf(page, "Query performance").waitFor();
    const { bucketStarts } = await queries();
    const spike = await slowest();
    await clickBucket(page, "Query performance", spike.at, bucketStarts); // one
    const panel = page.getByRole("dialog", { name: "Breakdown: Query performance" });
    // Those who were held up took the most time together; the one that held them up, called once, took longest.
    const text = { blocked: "UPDATE pgbench_branches SET bbalance = bbalance + ? WHERE bid = ?", blocker: "" };
    text.blocker = `${text.blocked} RETURNING pg_sleep(?)`;
    const rows = panel.locator("[data-who-row]");
    await rows.nth(0).getByText(text.blocked, { exact: true }).waitFor();
    const row = rows.nth(1);
    await row.getByText(text.blocker, { exact: true }).waitFor();
    expect(await row.textContent()).toContain("shop · postgres");
    expect(await row.textContent()).toContain("1 call");
    await row.getByRole("link", { name: text.blocker, exact: true }).click(); // two
    await page
      .getByRole("region", { name: "Text, without values and comments" })
      .getByText(text.blocker, { exact: true })
      .waitFor();
    const seconds = (Date.now() - began) / 1_000;
    process.stdout.write(`incident: from its beginning to the statement's page ${seconds.toFixed(0)} s, two clicks\n`);
    expect(seconds).toBeLessThan(120);
    await page
      .getByRole("region", { name: "Servers that run it" })
      .getByRole("link", { name: "shop", exact: true })
      .waitFor();

    // The figures are the server's own.
    const { items } = await api<Schemas["StatementPage"]>(
      "GET",
      `/api/v1/statements?${window().replace(/&bucketSize=1m/, "")}&q=pgbench_branches`,
    );
    for (const which of ["blocked", "blocker"] as const) {
      const of = items.find((item) => item.text === text[which]);
      expect(of?.calls, which).toBe(want[which].calls);
      expect(of?.totalMs, which).toBeCloseTo(want[which].totalMs, 0);
    }
    const { bucketStarts: starts, series } = await waits();
    const locks = peak({ bucketStarts: starts, values: series.locks });
    expect(locks.highest, "on average over a minute, of the twelve").toBeGreaterThan(1);
    expect(locks.highest).toBeLessThanOrEqual(12);
  },
  240_000,
);

test.skipIf(!newest)(
  "the dashboard names who left a transaction open, one click from the tree behind it",
  async () => {
    watched.sql("CREATE TABLE IF NOT EXISTS orders (id int PRIMARY KEY, status text)");
    watched.sql("INSERT INTO orders VALUES (1, 'new') ON CONFLICT DO NOTHING");
    const id = await shop();
    const connected = () => api<{ status: string }>("GET", `/api/v1/instances/${id}`);
    await expect.poll(async () => (await connected()).status, { timeout: 60_000 }).toBe("up");
    // Somebody has the dashboard open already.
    const page = await visit("/?range=15m", {
      as: null,
      baseURL: muster.url,
      before: (page) => enter(page.context(), muster.url, session),
    });
    await plotOf(page, "Wait events").waitFor();
    await page.getByRole("region", { name: "Connections" }).waitFor();

    const began = Date.now();
    const change = "UPDATE orders SET status = 'paid' WHERE id = 1";
    const as = (application: string) => `dbname=postgres application_name=${application}`;
    const blocker = watched.run("psql", as("billing"), "-qc", "BEGIN", "-c", change, "-c", "\\! sleep 90");
    const idle = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'";
    await expect.poll(() => watched.sql(idle)).toBe("1");
    const blocked = Array.from({ length: 12 }, () => watched.run("psql", as("shop"), "-qc", change));
    const name = page.locator("[data-blocked]");
    await expect
      .poll(() => name.textContent().catch(() => ""), { timeout: 60_000 })
      .toMatch(/^billing holds up \d+ session/);
    await name.click(); // one
    await page.getByRole("heading", { level: 1, name: /^billing holds up 12 sessions on public\.orders$/ }).waitFor();
    const root = page.locator("[data-root]");
    await root.getByText(/^Idle in transaction for/).waitFor();
    await root.getByText("postgres", { exact: true }).waitFor();
    const seconds = (Date.now() - began) / 1_000;
    process.stdout.write(
      `incident: from its beginning to the root blocker's name ${seconds.toFixed(0)} s, one click\n`,
    );
    expect(seconds).toBeLessThan(60);
    // What the page offers ends it, and the episode says how.
    const end = (await page.getByRole("region", { name: "Statement" }).last().textContent()) ?? "";
    expect(end).toContain("pg_terminate_backend");
    watched.sql(end);
    await Promise.all(blocked.map(ended));
    blocker.kill();
    await page.getByText("The root's session ended: it was closed or terminated.").waitFor({ timeout: 60_000 });
  },
  240_000,
);
