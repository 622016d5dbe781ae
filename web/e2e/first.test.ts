// The first minute: from an organization without any server to the first drawn chart, with a real PostgreSQL.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter, violations, visit } from "./browser";
import { adminEmail, type Started, start } from "./muster";
import { sideways } from "./pages";
import { newest, postgres, type Watched } from "./postgres";
import { signIn } from "./server";

let muster: Started;
let session: string;
let watched: Watched;

beforeAll(async () => {
  // A mail server is set, which nobody asks here: administrators are then told by themselves.
  const settings = { MUSTER_SMTP_URL: "smtp://127.0.0.1:1" };
  [muster, watched] = await Promise.all([start({ settings }), postgres()]);
  session = await signIn(muster.url, adminEmail);
}, 120_000);
afterAll(() => Promise.all([muster?.stop(), watched?.stop()]));

const box = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const step = (page: Page, key: string, state: string) => page.locator(`[data-step="${key}"][data-state="${state}"]`);

test.skipIf(!newest)(
  "from nothing to the first drawn chart, and what is said on the way",
  async () => {
    const page = await visit("/", {
      as: null,
      baseURL: muster.url,
      before: (page) => enter(page.context(), muster.url, session),
    });
    await page.getByText("No instances yet").waitFor();
    await page
      .getByText(
        "Muster sends an e-mail to every administrator about critical and warning alerts that are raised or resolved",
        {
          exact: false,
        },
      )
      .waitFor({ timeout: 60_000 }); // the rule is made a quarter of a minute after the start, or two
    const change = page.getByRole("link", { name: "Change or switch off this rule" });
    expect(await change.getAttribute("href")).toBe("/notifications/rules");
    await page.getByRole("link", { name: "Add an instance" }).click();
    await box(page, "Name").fill("shop");
    await box(page, "Host").fill("127.0.0.1");
    await box(page, "Port").fill(String(watched.port));
    await box(page, "User").fill("postgres");
    // A server has its turn somewhere in the minute, so its second look at the statements may come within seconds. Then
    // everything has come in, and the panel is over before the connection is lost.
    await page.route("**/api/v1/metrics/query-performance?**", async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { series: Record<string, (number | null)[]> };
      for (const [name, values] of Object.entries(body.series)) body.series[name] = values.map(() => null);
      await route.fulfill({ response: answer, json: body });
    });
    await page.getByRole("button", { name: "Test and add" }).click();
    await page.waitForURL(/range=15m.*refresh=30s/);
    const added = Date.now();
    const panel = page.getByRole("region", { name: "The first minute" });
    await panel.getByRole("heading", { name: "shop: the first minute" }).waitFor();
    await step(page, "statements", "awaited").getByText("within two minutes").waitFor();
    await page
      .locator("section", { has: page.getByRole("heading", { name: "Wait events" }) })
      .locator("canvas")
      .waitFor({ timeout: 60_000 });
    const seconds = (Date.now() - added) / 1_000;
    process.stdout.write(`first chart ${seconds.toFixed(1)} s after the server was added\n`);
    await step(page, "assessment", "there").getByRole("link", { name: "Show what it found" }).waitFor();
    await step(page, "chart", "there").getByRole("link", { name: "Connect an agent" }).waitFor();

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
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await sideways(page)).toBe(false);
    expect(await violations(page)).toEqual([]);
  },
  150_000,
);
