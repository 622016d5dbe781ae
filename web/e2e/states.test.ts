// States of servers, with a real PostgreSQL that is killed and comes back (F1, F2).
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter, violations, visit } from "./browser";
import { adminEmail, type Started, start } from "./muster";
import { newest, postgres, type Watched } from "./postgres";
import { signIn } from "./server";

let muster: Started;
let session: string;
let watched: Watched;

beforeAll(async () => {
  [muster, watched] = await Promise.all([start(), newest ? postgres() : Promise.resolve(null as never)]);
  session = await signIn(muster.url, adminEmail);
}, 120_000);
afterAll(() => Promise.all([muster?.stop(), watched?.stop()]));

const patience = { timeout: 75_000 };

test.skipIf(!newest)(
  "a server that is killed is down within a minute on every page, though its host is measured, and up again after it",
  async () => {
    const page = await visit("/instances/new", {
      as: null,
      baseURL: muster.url,
      before: (page) => enter(page.context(), muster.url, session),
    });
    const box = (name: string) => page.getByRole("textbox", { name, exact: true });
    await box("Name").fill("shop");
    await box("Host").fill("127.0.0.1");
    await box("Port").fill(String(watched.port));
    await box("User").fill("postgres");
    await page.getByRole("button", { name: "Test and add" }).click();
    await page.waitForURL(/range=15m/);
    const line = page.locator("[data-states]");
    await line.getByText("1 of 1 active instance reporting").waitFor(patience);
    expect(await line.getByRole("link", { name: "1 up" }).count()).toBe(1);

    await watched.kill();
    const killed = Date.now();
    const trouble = page.getByRole("region", { name: "Servers that are not up" });
    await trouble.getByRole("heading", { name: /shop is down/ }).waitFor(patience);
    process.stdout.write(`down on the dashboard ${((Date.now() - killed) / 1_000).toFixed(1)} s after it was killed\n`);
    await trouble.getByText(`127.0.0.1:${watched.port}`).waitFor();
    await line.getByText("0 of 1 active instance reporting").waitFor();
    await page.getByRole("navigation", { name: "Main" }).getByText("1 down").waitFor(patience);
    expect(await violations(page)).toEqual([]);

    await line.getByRole("link", { name: "1 down" }).click();
    await page.waitForURL(/\/instances\?status=down/, { waitUntil: "commit" });
    const row = page.getByRole("row", { name: /\bshop/ });
    await row.getByText("Down", { exact: true }).waitFor();
    await row.getByRole("link", { name: "shop" }).click();
    const head = page.locator('[data-status="down"]');
    await head.getByText("Down", { exact: true }).waitFor();
    await head.locator('[data-part="sessions"][data-state="notMeasured"]').waitFor();
    await page.getByRole("heading", { level: 1, name: "shop" }).waitFor();
    expect(await violations(page)).toEqual([]);

    await watched.startAgain();
    await page.locator('[data-status="up"]').waitFor(patience);
    await page.goto("/");
    await line.getByText("1 of 1 active instance reporting").waitFor(patience);
    expect(await trouble.count()).toBe(0);
  },
  280_000,
);
