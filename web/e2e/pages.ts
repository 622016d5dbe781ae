// Every page there is, and how to know that it is all there.
import type { Page } from "playwright-core";
import { apiAs } from "./browser";
import type { Role } from "./server";

export type PageAt = {
  name: string;
  path: string;
  as?: Role | null;
  /** Another state of a page that is in the list: for the pictures, not for the tests. */
  again?: boolean;
};

/** everyPage is each of routes.tsx, with things of the demo in the addresses that name one. */
export async function everyPage(): Promise<PageAt[]> {
  const instance = await first("/api/v1/instances?pageSize=1");
  const alert = await first("/api/v1/alerts?pageSize=1");
  const report = await first("/api/v1/reports?kind=Security&status=Ready");
  const finding = await first("/api/v1/findings?checkId=PG-S25&pageSize=1");
  const schedule = await scheduleOf("The old CRM, when something changes");
  const paused = await scheduleOf("Scorecard of the warehouse");
  const rule = await first("/api/v1/notification-rules");
  const delivery = await first("/api/v1/deliveries");
  const [from, to] = [Date.now() - 3_600_000, Date.now()].map((at) => new Date(at).toISOString());
  const statement = await first(`/api/v1/statements?from=${from}&to=${to}&pageSize=1`);
  const held = await episode();
  return [
    { name: "dashboard", path: "/" },
    { name: "dashboard-week", path: "/?range=7d", again: true },
    { name: "dashboard-one", path: `/?range=6h&instanceId=${instance}`, again: true },
    { name: "dashboard-empty", path: "/?instanceId=" },
    { name: "dashboard-viewer", path: "/", as: "viewer", again: true },
    { name: "alerts", path: "/alerts?range=7d" },
    { name: "alerts-none", path: "/alerts?q=no-such-alert", again: true },
    { name: "alert", path: `/alerts/${alert}?range=7d` },
    { name: "catalog", path: "/reports" },
    { name: "request-scorecard", path: `/reports/view?kind=InstanceScorecard&instanceId=${instance}&range=7d` },
    { name: "request-security", path: "/reports/view?kind=Security" },
    { name: "preview-sla", path: "/reports/preview/performance-sla" },
    { name: "preview-alerts", path: "/reports/preview/alerts-summary" },
    { name: "preview-digest", path: "/reports/preview/daily-digest" },
    { name: "history", path: "/reports/history?kind=Security" },
    { name: "report", path: `/reports/${report}` },
    { name: "verify", path: "/reports/verify" },
    { name: "schedules", path: "/schedules" },
    { name: "schedule-new", path: `/schedules/new?kind=InstanceScorecard&instanceId=${instance}` },
    { name: "schedule", path: `/schedules/${schedule}` },
    { name: "schedule-edit", path: `/schedules/${schedule}?edit=yes`, again: true },
    { name: "schedule-paused", path: `/schedules/${paused}`, again: true },
    { name: "exports", path: "/exports" },
    { name: "instances", path: "/instances" },
    { name: "instances-by-team", path: "/instances?group=team", again: true },
    { name: "instance", path: `/instances/${instance}` },
    { name: "add-server", path: "/instances/new" },
    { name: "connect", path: "/instances/connect" },
    { name: "watch-rules", path: "/watch-rules" },
    { name: "watch-rule", path: "/watch-rules/volume" },
    { name: "maintenance-windows", path: "/maintenance-windows" },
    { name: "objectives", path: "/objectives" },
    { name: "activity", path: "/activity?range=6h" },
    { name: "activity-viewer", path: "/activity?range=6h&by=database", as: "viewer", again: true },
    { name: "statements", path: "/statements?range=1h" },
    { name: "statements-none", path: "/statements?q=no-such-statement", again: true },
    { name: "statement", path: `/statements/${statement}?range=1h` },
    { name: "blocking", path: "/blocking?range=30d" },
    { name: "blocking-viewer", path: "/blocking?range=30d", as: "viewer", again: true },
    { name: "episode", path: `/blocking/${held}` },
    { name: "episode-viewer", path: `/blocking/${held}`, as: "viewer", again: true },
    { name: "findings", path: "/findings" },
    { name: "findings-not-assessed", path: "/findings?status=notAssessed&status=accepted", again: true },
    { name: "findings-none", path: "/findings?q=no-such-finding", again: true },
    { name: "findings-each", path: "/findings?group=none", again: true },
    { name: "findings-viewer", path: "/findings", as: "viewer", again: true },
    { name: "finding", path: `/findings/${finding}` },
    { name: "checks", path: "/checks" },
    { name: "check", path: "/checks/PG-F11" },
    { name: "exceptions", path: "/exceptions" },
    { name: "rules", path: "/notifications/rules" },
    { name: "rule-new", path: "/notifications/rules/new" },
    { name: "rule", path: `/notifications/rules/${rule}` },
    { name: "channels", path: "/notifications/channels" },
    { name: "deliveries", path: "/notifications/deliveries" },
    { name: "delivery", path: `/notifications/deliveries/${delivery}` },
    { name: "teams", path: "/teams" },
    { name: "members", path: "/settings/members" },
    { name: "members-viewer", path: "/settings/members", as: "viewer", again: true },
    { name: "tokens", path: "/settings/tokens" },
    { name: "assistants", path: "/settings/assistants" },
    { name: "organization", path: "/settings/organization" },
    { name: "account", path: "/settings/account" },
    { name: "audit", path: "/audit" },
    { name: "projections", path: "/ops/projections" },
    { name: "jobs", path: "/ops/jobs" },
    { name: "senders", path: "/ops/senders" },
    { name: "dead-letters", path: "/ops/dead-letters" },
    { name: "outbox", path: "/ops/outbox" },
    { name: "forbidden", path: "/ops/projections", as: "viewer" },
    { name: "lost", path: "/no/such/page" },
    { name: "sign-in", path: "/alerts?range=7d", as: null },
    { name: "setup", path: "/setup#token=abc", as: null },
    { name: "invitation", path: "/invitation#token=abc", as: null },
    { name: "address", path: "/addresses/confirm#token=abc", as: null },
    { name: "leave", path: "/addresses/leave#token=abc", as: null },
    { name: "api", path: "/docs/api", as: null },
  ];
}

async function first(path: string): Promise<string> {
  const answer = await apiAs("admin", "GET", path);
  const { items } = (await answer.json()) as { items: { id: string }[] };
  const id = items[0]?.id;
  if (!id) throw new Error(`the demo has nothing at ${path}`);
  return id;
}

/** episode is the demo's longest of the last days: billing's session holds a migration up, and that all others. */
export async function episode(): Promise<string> {
  const from = new Date(Date.now() - 2 * 86_400_000).toISOString();
  const path = `/api/v1/blocking?from=${from}&to=${new Date().toISOString()}&pageSize=100`;
  type Found = { items: { id: string; maxBlocked: number }[] };
  const { items } = (await (await apiAs("admin", "GET", path)).json()) as Found;
  const [most] = items.sort((a, b) => b.maxBlocked - a.maxBlocked);
  if (!most) throw new Error("the demo has no episode");
  return most.id;
}

/** scheduleOf is the id of the demo's schedule of that name. */
async function scheduleOf(name: string): Promise<string> {
  type Made = { items: { id: string; name: string }[] };
  const { items } = (await (await apiAs("admin", "GET", "/api/v1/schedules?pageSize=200")).json()) as Made;
  const id = items.find((schedule) => schedule.name === name)?.id;
  if (!id) throw new Error(`the demo has no schedule ${name}`);
  return id;
}

/** settled waits until a page is there: its heading, nothing that loads, no network for a moment. */
export async function settled(page: Page) {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"], .mantine-Skeleton-root[data-visible]'));
}

/**
 * entangled are the texts that turn their direction (U+202E) and can reach into what stands beside them: neither an element
 * of their own nor isolated.
 */
export const entangled = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const around = text.parentElement;
      if (!around || around.closest("script, style") || !text.textContent?.includes("\u202E")) continue;
      const alone = [...around.childNodes].every((node) => node === text || node.textContent?.trim() === "");
      const isolated = /isolate|plaintext/.test(getComputedStyle(around).unicodeBidi);
      if (!alone || !isolated) found.push(`${around.tagName}: ${around.textContent?.slice(0, 80)}`);
    }
    return found;
  });

/**
 * sideways says that the page itself scrolls to the side once its layout rests: for some frames after a change of the
 * window's size, React has not yet rendered what a media query chooses.
 */
export const sideways = (page: Page) =>
  page.evaluate(async () => {
    const root = document.documentElement;
    const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
    let measured = "";
    for (let resting = 0; resting < 10; resting++) {
      await frame();
      const now = `${root.scrollWidth} of ${root.clientWidth}`;
      if (now !== measured) resting = 0;
      measured = now;
    }
    return root.scrollWidth > root.clientWidth;
  });
