// Who is told of what: rules with what they would have matched, channels that are tried, deliveries, and both from an alert.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, fed, requestsTo, row, testLong, unique, violations, visit, widths } from "./browser";
import { settled, sideways } from "./pages";

type Received = { id: string; signed: boolean; body: { id: string; events: { type: string; title: string }[] } };

/** receiver is a program on this machine that is told; what it is sent is checked as Standard Webhooks say. */
async function receiver() {
  const heard: Received[] = [];
  const at = { code: 204, secret: "", heard };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature } = request.headers;
    const key = Buffer.from(at.secret.replace("whsec_", ""), "base64");
    const expected = createHmac("sha256", key).update(`${id}.${time}.${text}`).digest("base64");
    heard.push({ id: String(id), signed: String(signature) === `v1,${expected}`, body: JSON.parse(text) });
    response.writeHead(at.code).end("what the receiver said");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/muster`;
  const stop = () => new Promise((resolve) => server.close(resolve));
  return Object.assign(at, { url, stop });
}

/** raise has an alert of a server raised by a feed. */
async function raise(instance: string, title: string): Promise<string> {
  const now = new Date().toISOString();
  const times = { createdAt: now, firstTriggeredAt: now, lastTriggeredAt: now };
  const raised = { externalId: title, title, severity: "info", state: "Open", instance, ...times };
  const { alerts } = await fed<{ alerts: { id: string }[] }>("/ingest/v1/alerts", { alerts: [raised] });
  return (alerts[0] as { id: string }).id;
}

test("a channel is added and tried, a rule shows what it would have matched, and an alert is told, refused, retried, and said of", async () => {
  const hook = await receiver();
  try {
    const channel = unique("e2e channel");
    const page = await visit("/notifications/channels", { expected: [/status of 422/] });
    await page.getByRole("button", { name: "Add a channel" }).click();
    const dialog = page.getByRole("dialog");
    await page.getByLabel("Name").fill(channel);
    expect(await page.getByLabel("All administrators").isChecked()).toBe(true);
    expect(await violations(page), "the form of a channel").toEqual([]);
    await dialog.getByRole("combobox", { name: "Kind" }).click();
    await page.getByRole("option", { name: "Webhook" }).click();
    await dialog.getByLabel("Address").fill("http://169.254.169.254/latest");
    await dialog.getByRole("button", { name: "Generate" }).click();
    hook.secret = await dialog.getByLabel("Secret", { exact: true }).inputValue();
    await dialog.getByRole("button", { name: "Add channel" }).click();
    await dialog.getByText("in a network that this installation does not send to", { exact: false }).waitFor();
    const address = dialog.getByLabel("Address");
    expect(await address.getAttribute("aria-invalid")).toBe("true");
    await expect.poll(() => address.evaluate((field) => document.activeElement === field)).toBe(true);
    await address.fill(hook.url);
    await dialog.getByRole("button", { name: "Add channel" }).click();
    await row(page, channel).getByText("None: it is never used").waitFor();

    hook.code = 410;
    await page.getByRole("button", { name: `Test ${channel}` }).click();
    await row(page, channel)
      .getByText(/It failed: HTTP 410, [\d,]+ ms/)
      .waitFor();
    await row(page, channel).getByText("The receiver answered 410 Gone.").waitFor();
    hook.code = 204;
    await page.getByRole("button", { name: `Test ${channel}` }).click();
    await row(page, channel)
      .getByText(/It works: HTTP 204, [\d,]+ ms/)
      .waitFor();
    expect(await page.getByText("what the receiver said").count()).toBe(0);
    expect(hook.heard.map(({ signed }) => signed)).toEqual([true, true]);

    const rule = unique("e2e rule");
    await page.goto("/notifications/rules/new");
    await page.getByLabel("Name", { exact: true }).fill(rule);
    const preview = page.locator("[data-preview]");
    await expect
      .poll(async () => (await preview.getByRole("status").textContent()) ?? "")
      .toMatch(/events? in [\d,]+ notifications?/);
    await preview.getByRole("listitem").first().getByRole("link").waitFor();
    await page.getByText("Critical", { exact: true }).first().click();
    await page.getByText("Info", { exact: true }).first().click();
    const asked = requestsTo(page, "/api/v1/notification-rules/preview");
    await page.getByLabel("Instance name contains (optional)").fill("no-such-instance");
    await preview.getByText("Nothing matched.").waitFor();
    expect(asked.length).toBeLessThan(4); // not at each key
    await page.getByLabel("Instance name contains (optional)").fill("pg-orders");
    await page.getByRole("button", { name: "Create rule" }).click();
    await page.getByText("Choose at least one channel.").waitFor();
    await page.getByRole("combobox", { name: "Channels" }).click();
    await page.getByRole("option", { name: channel }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("combobox", { name: "Wait for more events" }).click();
    await page.getByRole("option", { name: "Do not wait" }).click();
    await page.getByLabel("Quiet hours").check();
    await page.getByLabel("From").fill("23:00");
    await page.evaluate(() => scrollTo(0, 0)); // from under the bar
    await settled(page);
    expect(await violations(page), "the form of a rule").toEqual([]);
    await page.getByLabel("Quiet hours").uncheck(); // it may be night here
    await page.getByRole("button", { name: "Create rule" }).click();
    const made = row(page, rule);
    await made.getByText("Info alerts of instances named like “pg-orders” that are raised or resolved").waitFor();
    await made.getByText(channel).waitFor();

    hook.code = 410;
    hook.heard.length = 0;
    const title = unique("e2e told");
    const alert = await raise("demo-pg-orders-01", title);
    const failures = async () => (await apiAs("auditor", "GET", "/api/v1/deliveries?status=failed")).text();
    await expect.poll(failures, { interval: 100 }).toContain(title);
    await page.goto("/notifications/deliveries");
    const delivery = row(page, title);
    await delivery.getByText("Failed").waitFor();
    await delivery.getByText("1 attempt, HTTP 410").waitFor();
    hook.code = 204;
    await delivery.getByRole("button", { name: `Retry ${title}` }).click();
    await delivery.getByText("Sent").waitFor();
    const [first, second] = hook.heard as [Received, Received];
    expect(second.id).toBe(first.id);
    expect([first.signed, second.signed]).toEqual([true, true]);
    expect(second.body.events).toMatchObject([{ type: "alert.raised", title }]);

    await delivery.getByRole("link", { name: title }).click();
    await page.getByRole("heading", { level: 2, name: "1 event" }).waitFor();
    await page.getByText(first.id).waitFor();
    await page.getByRole("table", { name: "Events" }).getByRole("link", { name: title }).click();
    await page.waitForURL(`**/alerts/${alert}`);
    const told = page.getByRole("region", { name: "Notifications sent" });
    await told.getByText(channel).waitFor();
    await told.getByText(`Alert raised · Webhook · rule ${rule}`).waitFor();
    await told.getByRole("link").waitFor();
    await page.getByRole("link", { name: "demo-pg-orders-01" }).first().click();
    await page.waitForURL(/\/instances\//);
    const will = page.locator("[data-rule]").filter({ hasText: rule });
    await will.getByText(`${channel} (Webhook)`).waitFor();

    await page.goto("/notifications/channels");
    await page.getByRole("button", { name: `Remove ${channel}` }).click();
    await dialog.getByText("Rules still use this channel", { exact: false }).waitFor();
    await page.keyboard.press("Escape");
    await page.goto("/notifications/rules");
    await page.getByRole("button", { name: `Remove ${rule}` }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await made.waitFor({ state: "detached" });
    await page.goto("/notifications/channels");
    await page.getByRole("button", { name: `Remove ${channel}` }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await row(page, channel).waitFor({ state: "detached" });
  } finally {
    await hook.stop();
  }
}, 300_000);

const id = (n: number) => `0199f0d2-7a10-7c44-9b0e-${String(n).padStart(12, "0")}`;
const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
const hook: Schemas["Channel"] = {
  id: id(1),
  name: "On call",
  kind: "webhook",
  format: null,
  memberIds: [],
  administrators: false,
  addresses: [],
  url: "https://hooks.example.org/muster",
  createdAt: at(-9_000),
  createdBy: { id: id(2), name: "Noor Haddad" },
  rules: [{ id: id(3), name: "Critical alerts" }],
  lastDelivery: { id: id(10), status: "failed", lastCode: 410, at: at(-30) },
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
  checkId: null,
  findingSeverity: null,
  owner: null,
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
  delivery(11, { status: "pending", attempts: 3, lastCode: 500, nextAttemptAt: at(18) }),
  delivery(12, { status: "suppressed", reason: "resolved_meanwhile", attempts: 0, lastCode: null }),
  delivery(13, {}),
];

testLong("a channel's secret is never there; a new one is made here and shown once", async () => {
  const page = await visit("/notifications/channels", {
    before: (p) => p.route("**/api/v1/channels", (route) => route.fulfill({ json: { items: [hook] } })),
  });
  await page.getByRole("button", { name: "Edit On call" }).click();
  const secret = page.getByLabel("Secret", { exact: true });
  expect(await secret.inputValue()).toBe("");
  await page.getByRole("button", { name: "Generate" }).click();
  expect(await secret.inputValue()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  await page.getByRole("region", { name: "Secret for the receiver" }).waitFor();
});

// F12.
test("a test that was written to the outbox is said to be there, and not to work", async () => {
  const page = await visit("/notifications/channels");
  await page.getByRole("button", { name: "Test Administrators" }).click(); // the demo's
  await row(page, "Administrators").locator('[data-answer="outbox"]').getByText("No mail server is set").waitFor();
  expect(await page.getByText("It works").count()).toBe(0);
});

/** asIf answers as a server whose mails go elsewhere, and as one with other rules. */
const asIf = (mail: "server" | "outbox", rules: unknown[]) => async (page: Page) => {
  await page.route("**/api/v1/session", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), mail } });
  });
  await page.route("**/api/v1/notification-rules", (route) =>
    route.request().method() === "GET" ? route.fulfill({ json: { items: rules } }) : route.fallback(),
  );
};

// F13.
test("that nobody is told of alerts is said on the dashboard and beside the alerts; one click has administrators told", async () => {
  const rules: unknown[] = [];
  const sent: Schemas["CreateNotificationRule"][] = [];
  const page = await visit("/alerts", {
    before: async (p) => {
      await asIf("server", rules)(p);
      await p.route("**/api/v1/notification-rules", (route) => {
        if (route.request().method() !== "POST") return route.fallback();
        sent.push(route.request().postDataJSON());
        rules.push({ ...sent[0], id: id(92), quiet: null, createdAt: at(0), createdBy: null });
        return route.fulfill({ status: 201, json: rules[0] });
      });
    },
  });
  const says = page.locator("[data-nobody-is-told]");
  await says.getByText("Alerts are not sent to anyone yet").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.goto("/");
  await says.getByRole("button", { name: "E-mail all administrators" }).click();
  await says.waitFor({ state: "hidden" });
  expect(sent).toMatchObject([
    { match: { severity: ["critical", "warning"], event: ["alert.raised", "alert.resolved"] }, groupSeconds: 10 },
  ]);
  const elsewhere = await visit("/alerts", { before: asIf("outbox", []) });
  await elsewhere.getByText("No mail server is set, so Muster cannot send e-mails.", { exact: false }).waitFor();
  await elsewhere.getByRole("link", { name: "Send alerts to a chat or a webhook" }).click();
  await elsewhere.waitForURL("**/notifications/rules/new");
});

// F15.
testLong(
  "an e-mail channel takes an address that is no member's, and says until it agrees that nothing is sent there",
  async () => {
    const sent: Schemas["CreateChannel"][] = [];
    const items: Schemas["Channel"][] = [];
    const asked: string[] = [];
    const page = await visit("/notifications/channels", {
      before: async (p) => {
        await asIf("server", [])(p);
        await p.route("**/api/v1/channels", (route) => {
          if (route.request().method() !== "POST") return route.fulfill({ json: { items } });
          const body = route.request().postDataJSON() as Schemas["CreateChannel"];
          sent.push(body);
          const addresses = (body.addresses ?? []).map((address, n) => ({
            ...{ id: id(70 + n), address, askedAt: at(0), confirmedAt: null },
          }));
          const made = {
            ...hook,
            id: id(93),
            name: body.name,
            kind: "email",
            url: null,
            rules: [],
            lastDelivery: null,
          };
          items.push({ ...made, addresses });
          return route.fulfill({ status: 201, json: items[0] });
        });
        await p.route(`**/api/v1/channels/${id(93)}/confirmations`, (route) => {
          asked.push(route.request().method());
          return route.fulfill({ json: items[0] });
        });
      },
    });
    await page.getByRole("button", { name: "Add a channel" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Pager of the DBAs");
    await dialog.getByRole("switch", { name: "All administrators" }).uncheck({ force: true });
    const field = dialog.getByRole("combobox", { name: "Other addresses (optional)" });
    await field.fill("dba-team@example.org");
    await field.press("Enter");
    await field.fill("pager@example.org"); // the last one needs no Enter
    await dialog.getByRole("button", { name: "Add channel" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(sent).toMatchObject([{ kind: "email", addresses: ["dba-team@example.org", "pager@example.org"] }]);
    const made = row(page, "Pager of the DBAs");
    await made.getByText(/^pager@example\.org: not confirmed, link e-mailed/).waitFor();
    await made.getByText("Nobody", { exact: true }).waitFor(); // yet
    await made.getByRole("button", { name: "E-mail the links of Pager of the DBAs again" }).click();
    await page.getByText("The link was e-mailed again.").waitFor();
    expect(asked).toEqual(["POST"]);
  },
);

// F14.
testLong("a channel is added from the form of a rule, and nothing that was typed is lost", async () => {
  const added = unique("e2e in place");
  const page = await visit("/notifications/rules/new");
  await page.getByLabel("Name", { exact: true }).fill("Typed before");
  await page.getByRole("button", { name: "Add a channel" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("No mail server is set", { exact: false }).waitFor(); // F12
  await dialog.getByLabel("Name").fill(added);
  await dialog.getByRole("button", { name: "Add channel" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByText(`${added} (E-mail)`).first().waitFor();
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Typed before");
  expect(new URL(page.url()).pathname).toBe("/notifications/rules/new");
  const only = await visit("/notifications/rules/new", {
    before: (p) => p.route("**/api/v1/channels", (route) => route.fulfill({ json: { items: [hook] } })),
  });
  await only.getByText("On call (Webhook)").first().waitFor();
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

test("a filter that stands in the address is seen by whoever gets it, and can be cleared", async () => {
  const page = await visit(
    `/notifications/deliveries?channelId=${id(77)}&eventType=report.failed&from=2026-11-01T08:00:00.000Z&to=2026-11-02T08:00:00.000Z`,
    { as: "auditor" },
  );
  await page.getByText("No delivery matches these filters.").waitFor();
  await expect.poll(() => page.getByLabel("From", { exact: true }).inputValue()).toBe("2026-11-01T08:00");
  expect(await page.getByLabel("To", { exact: true }).inputValue()).toBe("2026-11-02T08:00");
  expect(await page.getByRole("combobox", { name: "Event" }).inputValue()).toBe("Report failed");
  expect(await page.getByRole("combobox", { name: "Channel" }).inputValue()).toBe("Channel 0199f0d2…");
  const asked = requestsTo(page, "/api/v1/deliveries");
  await page.getByLabel("To", { exact: true }).fill("2026-11-01T07:00");
  await page.getByLabel("To", { exact: true }).press("Enter");
  await page.getByText("Must be before To.").waitFor();
  expect(asked).toEqual([]);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("");
  await page.getByRole("row").filter({ hasText: "Reports that fail or are missed" }).first().waitFor(); // the demo's
  expect([...(asked.at(-1)?.searchParams.keys() ?? [])]).toEqual(["limit"]);
});

testLong("that Muster mails administrators by itself is said for as long as it does", async () => {
  const own: Schemas["NotificationRule"] = {
    id: id(90),
    name: "Critical and warning alerts, failed reports",
    match: { severity: ["critical"], engine: [], instanceIds: [], nameContains: null, event: ["alert.raised"] },
    channelIds: [id(91)],
    groupSeconds: 60,
    repeatMinutes: 0,
    quiet: null,
    enabled: true,
    createdAt: at(-9_000),
    createdBy: null,
  };
  const mail = { ...hook, id: id(91), name: "Administrators", kind: "email" as const, url: null, administrators: true };
  const page = await visit("/notifications/rules", {
    before: async (p) => {
      await p.route("**/api/v1/notification-rules", (route) => route.fulfill({ json: { items: [own] } }));
      await p.route("**/api/v1/channels", (route) => route.fulfill({ json: { items: [mail, hook] } }));
    },
  });
  const says = page.getByText("Muster sends an e-mail to every administrator about critical alerts that are raised.", {
    exact: false,
  });
  await says.waitFor();
  mail.administrators = false; // somebody else gets what it tells
  await page.reload();
  await row(page, own.name).waitFor();
  await settled(page);
  expect(await says.count()).toBe(0);
});

testLong(
  "a rule that names no event has all, in its form too; channels that cannot be named are said to be so",
  async () => {
    const all: Schemas["NotificationRule"] = {
      id: rule.id,
      name: rule.name,
      match: { severity: [], engine: [], instanceIds: [], nameContains: null, event: [] },
      channelIds: [hook.id],
      groupSeconds: 60,
      repeatMinutes: 0,
      quiet: null,
      enabled: true,
      createdAt: at(-9_000),
      createdBy: hook.createdBy,
    };
    const failing = { status: 503, contentType: "application/problem+json", body: "{}" };
    const page = await visit(`/notifications/rules/${all.id}`, {
      expected: [/status of 503/],
      before: async (p) => {
        await p.route(`**/api/v1/notification-rules/${all.id}`, (route) => route.fulfill({ json: all }));
        await p.route("**/api/v1/notification-rules", (route) => route.fulfill({ json: { items: [all] } }));
        await p.route("**/api/v1/channels", (route) => route.fulfill(failing));
      },
    });
    for (const event of ["Alert raised", "Report failed", "Scheduled report missed"]) {
      expect(await page.getByRole("checkbox", { name: event }).isChecked(), event).toBe(true);
    }
    await page.getByText("Channels could not be loaded:", { exact: false }).waitFor();
    await page.goto("/notifications/rules");
    await page.getByText("The names of channels could not be loaded").waitFor();
    await row(page, all.name).waitFor();
  },
);

testLong("an alert says who was told, when and by which rule; an instance who will be", async () => {
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
    lastCode: 204,
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
  const section = page.getByRole("region", { name: "Notifications sent" });
  await section.getByText("Noor Haddad").waitFor();
  await section.getByText("Alert raised · E-mail Administrators · rule Critical alerts").waitFor();
  await section.getByText("On call", { exact: true }).waitFor();
  expect(await section.getByRole("link").count()).toBe(0); // deliveries are not for viewers

  // Of nobody it says why: no rule, or that it is too long ago to know.
  await page.unroute("**/api/v1/alerts/*/notifications");
  await page.route("**/api/v1/alerts/*/notifications", (route) => route.fulfill({ json: { items: [] } }));
  await page.reload();
  await section.getByText("No one: no notification rule matched this alert when it was raised.").waitFor();
  await page.route(`**/api/v1/alerts/${alert}`, async (route) => {
    const shown = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...shown, resolvedAt: at(-91 * 1440) } });
  });
  await page.reload();
  await section.getByText("Notifications are kept for 90 days; this alert is older.").waitFor();

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
  await server.getByRole("heading", { name: "Notification recipients" }).waitFor();
  await server.locator("[data-rule]").getByText("On call (Webhook); Noor Haddad").waitFor();
  await server.getByText("of critical alerts that are raised: rule Critical alerts").waitFor();
});

testLong(
  "without rules, channels and deliveries the pages say what they are for, and to whom they are not",
  async () => {
    const none = { items: [], nextCursor: null };
    const pages = {
      rules: "Alerts, failed reports and missed scheduled reports are not sent to anyone.",
      channels: "Add one, try it, and then a rule that uses it.",
      deliveries: "No event has matched a notification rule yet.",
    };
    const page = await visit("/notifications/rules", {
      before: async (p) => {
        for (const path of ["notification-rules", "channels", "deliveries"]) {
          await p.route(
            ({ pathname }) => pathname === `/api/v1/${path}`,
            (route) => route.fulfill({ json: none }),
          );
        }
      },
    });
    for (const [name, says] of Object.entries(pages)) {
      await page.goto(`/notifications/${name}`);
      await page.getByText(says).waitFor();
    }
    await page.goto("/notifications/deliveries?status=failed");
    await page.getByText("No delivery matches these filters.").waitFor();
    const member = await visit("/notifications/rules", { as: "member" });
    await member.getByText("403").waitFor();
    expect(await member.getByRole("link", { name: "New rule" }).count()).toBe(0);
    const menu = member.getByRole("navigation", { name: "Main" });
    expect(await menu.getByRole("link", { name: "Notifications" }).count()).toBe(0);
  },
);

test.each(widths(1320))(
  "channels of Microsoft Teams, PagerDuty and the owning team are added, %i px",
  async (width) => {
    const sent: { kind: string }[] = [];
    const page = await visit("/notifications/channels", {
      viewport: { width, height: 844 },
      before: (p) =>
        p.route("**/api/v1/channels", (route) => {
          if (route.request().method() !== "POST") return route.continue();
          sent.push(route.request().postDataJSON());
          return route.fulfill({ status: 201, json: { id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1c01" } });
        }),
    });
    const add = async (kind: string, fill: (dialog: ReturnType<Page["getByRole"]>) => Promise<void>) => {
      await page.getByRole("button", { name: "Add a channel" }).first().click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("combobox", { name: "Kind" }).click();
      await page.getByRole("option", { name: kind }).click();
      await dialog.getByLabel("Name").fill(`Ours, ${width}`);
      await fill(dialog);
      expect(await violations(page), `the form of ${kind}`).toEqual([]);
      expect(await sideways(page)).toBe(false);
      await dialog.getByRole("button", { name: "Add channel" }).click();
      await dialog.waitFor({ state: "hidden" });
    };
    await add("Microsoft Teams", (dialog) =>
      dialog.getByLabel("Address").fill("https://a.logic.azure.com/workflows/x?sig=y"),
    );
    await add("PagerDuty", async (dialog) => {
      await dialog.getByLabel("Address").fill("https://events.eu.pagerduty.com");
      await dialog.getByLabel("Routing key").fill("too short");
      await dialog.getByRole("button", { name: "Add channel" }).click();
      await dialog.getByText("Enter the 32 letters and digits of an integration key.").waitFor();
      await dialog.getByLabel("Routing key").fill("R0123456789abcdef0123456789ABCDE");
    });
    await add("Owning team", async (dialog) => {
      await dialog.getByText("the members of the team that owns its server").waitFor();
      expect(await dialog.getByLabel("Address").count()).toBe(0);
    });
    expect(sent).toMatchObject([
      { kind: "teams", url: "https://a.logic.azure.com/workflows/x?sig=y" },
      { kind: "pagerduty", url: "https://events.eu.pagerduty.com", secret: "R0123456789abcdef0123456789ABCDE" },
      { kind: "team", administrators: false },
    ]);
  },
);
