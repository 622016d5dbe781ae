// Who is told of what: rules with what they would have matched, channels that are tried, deliveries, and both from an alert.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, requestsTo, violations, visit } from "./browser";
import { settled, sideways } from "./pages";

const unique = (what: string) => `${what} ${Date.now()}-${Math.floor(Math.random() * 1e6)}`;
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

test("a channel is added and tried, a rule shows what it would have matched, and both are removed", async () => {
  const name = unique("e2e channel");
  const page = await visit("/notifications/channels", { expected: [/Failed to load resource/] });
  await page.getByRole("button", { name: "Add a channel" }).click();
  await page.getByLabel("Name").fill(name);
  expect(await page.getByLabel("All administrators").isChecked()).toBe(true);
  expect(await violations(page), "the form of a channel").toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Add channel" }).click();
  await row(page, name).getByText("None: it is never used").waitFor();
  await row(page, name)
    .getByRole("button", { name: `Test ${name}` })
    .click();
  await row(page, name)
    .getByText(/It works: .*, [\d,]+ ms/)
    .waitFor();

  const rule = unique("e2e rule");
  await page.goto("/notifications/rules/new");
  await page.getByLabel("Name", { exact: true }).fill(rule);
  const found = page.locator("[data-preview]").getByRole("status");
  await expect.poll(async () => (await found.textContent()) ?? "").toMatch(/events? in [\d,]+ notifications?/);
  const asked = requestsTo(page, "/api/v1/notification-rules/preview");
  await page.getByLabel("Instance name contains (optional)").fill("no-such-instance");
  await page.locator("[data-preview]").getByText("Nothing matched.").waitFor();
  expect(asked.length).toBeLessThan(4); // not at each key
  await page.getByLabel("Instance name contains (optional)").fill("");
  await page.getByRole("button", { name: "Create rule" }).click();
  await page.getByText("Choose at least one channel.").waitFor();
  await page.getByRole("combobox", { name: "Channels" }).click();
  await page.getByRole("option", { name }).click();
  await page.keyboard.press("Escape");
  await page.getByLabel("Quiet hours").check();
  await page.getByLabel("From").fill("23:00");
  await settled(page);
  expect(await violations(page), "the form of a rule").toEqual([]);
  await page.getByRole("button", { name: "Create rule" }).click();
  await row(page, rule).getByText("Critical alerts that are raised or resolved").waitFor();
  await row(page, rule)
    .getByText("quiet from 23:00 to 07:00 (UTC) except for critical alerts", { exact: false })
    .waitFor();
  await row(page, rule).getByText(name).waitFor();

  await page.goto("/notifications/channels");
  await row(page, name)
    .getByRole("button", { name: `Remove ${name}` })
    .click();
  await page.getByRole("dialog").getByText("Rules still use this channel", { exact: false }).waitFor();
  await page.keyboard.press("Escape");
  await page.goto("/notifications/rules");
  await row(page, rule)
    .getByRole("button", { name: `Remove ${rule}` })
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row(page, rule).waitFor({ state: "detached" });
  await page.goto("/notifications/channels");
  await row(page, name)
    .getByRole("button", { name: `Remove ${name}` })
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row(page, name).waitFor({ state: "detached" });
}, 120_000);

const id = (n: number) => `0199f0d2-7a10-7c44-9b0e-${String(n).padStart(12, "0")}`;
const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
const hook: Schemas["Channel"] = {
  id: id(1),
  name: "On call",
  kind: "webhook",
  memberIds: [],
  administrators: false,
  url: "https://hooks.example.org/muster",
  createdAt: at(-9_000),
  createdBy: { id: id(2), name: "Noor Haddad" },
  rules: [{ id: id(3), name: "Critical alerts" }],
  lastDelivery: { id: id(10), status: "failed", at: at(-30) },
};
const channel = { id: hook.id, name: hook.name, kind: "webhook" };
const rule = { id: id(3), name: "Critical alerts" };
const notice = (n: number): Schemas["Notice"] => ({
  id: id(100 + n),
  type: n % 2 ? "alert.resolved" : "alert.raised",
  at: at(-40 + n),
  title: `Lock waits above ${n} sessions`,
  severity: "critical",
  instance: { id: id(50), name: "demo-pg-orders-01" },
  alertId: id(60 + n),
  reportId: null,
  scheduleId: null,
  dueAt: null,
  reason: null,
});
const delivery = (n: number, more: Partial<Schemas["Delivery"]>): Schemas["Delivery"] => ({
  id: id(n),
  rule,
  channel,
  events: [notice(0)],
  omitted: 0,
  status: "sent",
  reason: null,
  attempts: 1,
  nextAttemptAt: null,
  lastCode: 204,
  lastError: null,
  createdAt: at(-31),
  at: at(-30),
  ...more,
});
const failed = delivery(10, {
  status: "failed",
  attempts: 14,
  lastCode: 410,
  lastError: "The receiver answered 410 Gone.",
  events: [notice(0), notice(1)],
  omitted: 9_898,
});
const deliveries = [
  failed,
  delivery(11, { status: "pending", attempts: 3, lastCode: 500, nextAttemptAt: at(12) }),
  delivery(12, { status: "suppressed", reason: "resolved_meanwhile", attempts: 0, lastCode: null }),
  delivery(13, {}),
];

test("a test of a channel shows what the other side answered, and its secret is never there", async () => {
  const page = await visit("/notifications/channels", {
    before: async (p) => {
      await p.route("**/api/v1/channels", (route) => route.fulfill({ json: { items: [hook] } }));
      await p.route("**/api/v1/channels/*/test", (route) =>
        route.fulfill({
          json: { ok: false, statusCode: 410, durationMs: 84, error: "The receiver answered 410 Gone." },
        }),
      );
    },
  });
  await page.getByRole("button", { name: "Test On call" }).click();
  await page.getByText("It failed: HTTP 410, 84 ms").waitFor();
  await page.getByText("The receiver answered 410 Gone.").waitFor();
  await page.getByRole("button", { name: "Edit On call" }).click();
  const secret = page.getByLabel("Secret", { exact: true });
  expect(await secret.inputValue()).toBe("");
  await page.getByRole("button", { name: "Generate" }).click();
  expect(await secret.inputValue()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  await page.getByRole("region", { name: "Secret for the receiver" }).waitFor();
});

test("deliveries say what came of each; filters live in the URL, and a failed one is tried again", async () => {
  const retried: string[] = [];
  const before = async (p: Page) => {
    await p.route("**/api/v1/channels", (route) => route.fulfill({ json: { items: [hook] } }));
    await p.route("**/api/v1/deliveries?*", (route) =>
      route.fulfill({ json: { items: deliveries, nextCursor: "older" } }),
    );
    await p.route(`**/api/v1/deliveries/${failed.id}`, (route) => route.fulfill({ json: failed }));
    await p.route("**/api/v1/deliveries/*/retry", (route) => {
      retried.push(route.request().url());
      return route.fulfill({ status: 202, json: failed });
    });
  };
  const page = await visit("/notifications/deliveries", { before });
  await row(page, "9,899 more events").getByText("14 attempts, HTTP 410").waitFor();
  await row(page, "Raised and resolved within the quiet hours").waitFor();
  await row(page, "Pending")
    .getByText(/3 attempts, HTTP 500, next in 1\d min/)
    .waitFor();
  await settled(page);
  expect(await violations(page)).toEqual([]);
  const asked = requestsTo(page, "/api/v1/deliveries");
  await page.getByRole("group", { name: "State" }).getByText("Failed", { exact: true }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("?status=failed");
  await expect.poll(() => asked.at(-1)?.searchParams.getAll("status")).toEqual(["failed"]);
  await page.getByRole("button", { name: "Older" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("?status=failed&cursor=older");
  await page.getByRole("button", { name: /^Retry Lock waits/ }).click();
  await expect.poll(() => retried).toHaveLength(1);
  await row(page, "9,899 more events").getByRole("link").first().click();
  await page.getByRole("heading", { level: 2, name: "9,900 events" }).waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page)).toBe(false);

  const auditor = await visit("/notifications/deliveries", { as: "auditor", before });
  await row(auditor, "9,899 more events").waitFor();
  expect(await auditor.getByRole("button", { name: /^Retry/ }).count()).toBe(0);
});

test("an alert says who was told, when and by which rule; an instance who will be", async () => {
  const first = async (path: string) =>
    ((await (await apiAs("viewer", "GET", path)).json()) as { items: { id: string }[] }).items[0]?.id;
  const alert = await first("/api/v1/alerts?pageSize=1");
  const told: Schemas["AlertNotification"] = {
    deliveryId: failed.id,
    event: "alert.raised",
    eventAt: at(-40),
    rule,
    channel: { id: id(5), name: "Administrators", kind: "email" },
    recipients: [{ id: id(2), name: "Noor Haddad" }],
    status: "sent",
    reason: null,
    at: at(-39),
  };
  const page = await visit(`/alerts/${alert}`, {
    as: "viewer",
    before: (p) =>
      p.route("**/api/v1/alerts/*/notifications", (route) =>
        route.fulfill({
          json: { items: [told, { ...told, recipients: [], channel, status: "suppressed", reason: "quiet_hours" }] },
        }),
      ),
  });
  const section = page.getByRole("region", { name: "Who was told" });
  await section.getByText("Noor Haddad").waitFor();
  await section.getByText("Alert raised · E-mail Administrators · rule Critical alerts").waitFor();
  await section.getByText("On call", { exact: true }).waitFor();
  expect(await section.getByRole("link").count()).toBe(0); // deliveries are not for viewers

  const instance = await first("/api/v1/instances?pageSize=1");
  const rules: Schemas["InstanceRuleList"] = {
    items: [
      {
        rule,
        severity: ["critical"],
        event: ["alert.raised"],
        channels: [
          { ...channel, recipients: [] },
          { ...told.channel, recipients: told.recipients },
        ],
        quiet: null,
      },
    ],
  };
  const server = await visit(`/instances/${instance}`, {
    as: "viewer",
    before: (p) => p.route("**/api/v1/instances/*/notification-rules", (route) => route.fulfill({ json: rules })),
  });
  await server.getByRole("heading", { name: "Who will be told" }).waitFor();
  await server.locator("[data-rule]").getByText("On call (Webhook); Noor Haddad").waitFor();
  await server.getByText("of critical alerts that are raised: rule Critical alerts").waitFor();
});

test("a fresh installation says on its first page whom it tells by itself, and where to change that", async () => {
  const own: Schemas["NotificationRule"] = {
    id: rule.id,
    name: "Administrators",
    match: {
      severity: ["critical"],
      engine: [],
      instanceIds: [],
      nameContains: null,
      event: ["alert.raised", "report.failed"],
    },
    channelIds: [id(5)],
    groupSeconds: 60,
    repeatMinutes: 0,
    quiet: null,
    enabled: true,
    createdAt: at(-9_000),
    createdBy: null,
  };
  const nothing = { items: [], page: { number: 1, size: 20, totalItems: 0, totalPages: 0 } };
  const page = await visit("/", {
    before: async (p) => {
      await p.route("**/api/v1/instances*", (route) => route.fulfill({ json: nothing }));
      await p.route("**/api/v1/notification-rules", (route) => route.fulfill({ json: { items: [own] } }));
      const none = { current: 0, previous: 0, trend: 0 };
      await p.route("**/api/v1/health-checks/overview*", (route) =>
        route.fulfill({
          json: { asOf: at(0), comparedAt: at(-10_080), instances: none, databases: none, alerts: none },
        }),
      );
    },
  });
  await page.getByText("No instances yet").waitFor();
  await page.getByText("critical alerts that are raised and reports that are failed", { exact: false }).waitFor();
  const change = page.getByRole("link", { name: "Change or switch off this rule" });
  expect(await change.getAttribute("href")).toBe("/notifications/rules");
});
