// The first minute: from an organization without any server to the first drawn chart, with a real PostgreSQL.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter, violations, visit } from "./browser";
import { adminEmail, freePort, type Started, start } from "./muster";
import { signIn } from "./server";

const programs = "/usr/lib/postgresql";
const newest = existsSync(programs) ? readdirSync(programs).sort((a, b) => Number(b) - Number(a))[0] : undefined;
const program = (name: string) => join(programs, newest ?? "", "bin", name);

let muster: Started;
let session: string;
let watched: { port: number; stop: () => Promise<void> };

beforeAll(async () => {
  [muster, watched] = await Promise.all([start(), postgres()]);
  session = await signIn(muster.url, adminEmail);
}, 120_000);
afterAll(() => Promise.all([muster?.stop(), watched?.stop()]));

/** postgres is a server of its own, with statement statistics, which refuses to run as root. */
async function postgres() {
  const port = await freePort();
  const dir = await mkdtemp(join(tmpdir(), "muster-e2e-pg-"));
  const root = process.getuid?.() === 0;
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"]));
  const as = root ? { uid: id("-u"), gid: id("-g") } : {};
  if (root) await chown(dir, id("-u"), id("-g"));
  const data = join(dir, "data");
  execFileSync(program("initdb"), ["-D", data, "-A", "trust", "-U", "postgres", "-N"], { ...as, cwd: dir });
  const settings = { port, unix_socket_directories: dir, shared_preload_libraries: "pg_stat_statements", fsync: "off" };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child: ChildProcess = spawn(program("postgres"), ["-D", data, ...flags], { ...as, cwd: dir, stdio: "ignore" });
  const sql = (text: string) =>
    execFileSync(program("psql"), ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres", "-qc", text], {
      stdio: "pipe",
    });
  const asked = () => {
    try {
      return sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    } catch {
      return null;
    }
  };
  while (asked() === null) await new Promise((resolve) => setTimeout(resolve, 100));
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill("SIGINT");
    await gone;
    await rm(dir, { recursive: true, force: true });
  };
  return { port, stop };
}

const box = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const step = (page: Page, key: string, state: string) => page.locator(`[data-step="${key}"][data-state="${state}"]`);

test.skipIf(!newest)("from nothing to the first drawn chart, and what is said on the way", async () => {
  const page = await visit("/", {
    as: null,
    baseURL: muster.url,
    before: (page) => enter(page.context(), muster.url, session),
  });
  await page.getByText("No instances yet").waitFor();
  await page.getByRole("link", { name: "Add an instance" }).click();
  await box(page, "Name").fill("shop");
  await box(page, "Host").fill("127.0.0.1");
  await box(page, "Port").fill(String(watched.port));
  await box(page, "User").fill("postgres");
  await page.getByRole("button", { name: "Test and add" }).click();
  await page.waitForURL(/range=15m.*refresh=30s/);
  const added = Date.now();
  const panel = page.getByRole("region", { name: "The first minute" });
  await panel.getByRole("heading", { name: "shop: the first minute" }).waitFor();
  await step(page, "statements", "awaited").getByText("within two minutes").waitFor();
  await page
    .locator("section", { has: page.getByRole("heading", { name: "Wait events" }) })
    .locator("canvas")
    .waitFor();
  const seconds = (Date.now() - added) / 1_000;
  process.stdout.write(`first chart ${seconds.toFixed(1)} s after the server was added\n`);
  await step(page, "assessment", "there").getByRole("link", { name: "Show what it found" }).waitFor();
  await step(page, "chart", "there").getByRole("link", { name: "Connect an agent" }).waitFor();
  expect(await violations(page)).toEqual([]);

  // It stops: a minute later than anybody would wait for here, so the answer is changed.
  const id = new URL(page.url()).searchParams.get("instanceId") ?? "";
  await page.route("**/api/v1/instances?**", async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { items: { lastSeenAt: string }[] };
    for (const item of body.items) item.lastSeenAt = new Date(Date.now() - 90_000).toISOString();
    await route.fulfill({ json: body });
  });
  const lost = step(page, "connected", "failed");
  await lost.getByText("Muster cannot reach it any more").waitFor();
  const mend = lost.getByRole("link", { name: "Change the connection or assess it again" });
  expect(await mend.getAttribute("href")).toBe(`/instances/${id}`);
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await violations(page)).toEqual([]);
});
