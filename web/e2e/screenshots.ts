// `make screenshots`: every page, light, dark and 360 px wide, as pictures to look at, and the five that README.md shows.
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { readMail } from "../src/mail/mail";
import { apiAs, fed, launch, type Visit, visit } from "./browser";
import { everyPage, type PageAt, settled } from "./pages";
import { allDrawn } from "./trends";

const folder = process.env.MUSTER_SCREENSHOTS ?? "";

type State = PageAt & {
  before?: Visit["before"];
  /** What somebody does on the page before the picture is made. */
  act?: (page: Page) => Promise<unknown>;
};

const failing = {
  status: 503,
  contentType: "application/problem+json",
  body: JSON.stringify({
    status: 503,
    code: "unavailable",
    title: "Unavailable",
    detail: "The measurements cannot be read right now.",
    requestId: "01JD4Y3M7Q2N",
  }),
};
const stub = (path: string, body: unknown) => (page: Page) =>
  page.route(path, (route) => route.fulfill({ json: body }));

/** What the demo does not show: faults, nothing at all, and numbers and names that are too long. */
const states: State[] = [
  {
    name: "dashboard-failed",
    path: "/",
    before: (page) => page.route("**/api/v1/metrics/**", (route) => route.fulfill(failing)),
  },
  {
    name: "dashboard-big",
    path: "/",
    before: stub("**/api/v1/health-checks/overview*", {
      asOf: "2026-11-20T11:37:02Z",
      comparedAt: "2026-11-13T11:37:02Z",
      instances: { current: 12_480, previous: 12_481, trend: -1 },
      databases: { current: 1_234_567, previous: 1_100_000, trend: 134_567 },
      alerts: { current: 98_765, previous: 1_234, trend: 97_531 },
      states: { up: 12_480, down: 0, silent: 0, unknown: 0, inactive: 0 },
    }),
  },
  {
    name: "dashboard-first-run",
    path: "/",
    before: async (page) => {
      await stub("**/api/v1/instances*", { items: [], page: { number: 1, size: 200, totalItems: 0, totalPages: 0 } })(
        page,
      );
      await stub("**/api/v1/alerts?*", { items: [], page: { number: 1, size: 10, totalItems: 0, totalPages: 0 } })(
        page,
      );
      await stub("**/api/v1/health-checks/overview*", {
        asOf: "2026-11-20T11:37:02Z",
        comparedAt: "2026-11-13T11:37:02Z",
        instances: { current: 0, previous: 0, trend: 0 },
        databases: { current: 0, previous: 0, trend: 0 },
        alerts: { current: 0, previous: 0, trend: 0 },
      })(page);
      const event = ["alert.raised", "alert.resolved", "report.failed", "schedule.missed"];
      const match = { severity: ["critical"], engine: [], instanceIds: [], nameContains: null, event };
      await stub("**/api/v1/notification-rules", {
        items: [{ id: "r", createdBy: null, enabled: true, match, channelIds: ["c"] }],
      })(page);
      await stub("**/api/v1/channels", { items: [{ id: "c", administrators: true }] })(page);
    },
  },
  {
    name: "channel-new",
    path: "/notifications/channels",
    act: async (page) => {
      await page.getByRole("button", { name: "Add a channel" }).click();
      await page.getByRole("combobox", { name: "Kind" }).click();
      await page.getByRole("option", { name: "Webhook" }).click();
      await page.getByRole("button", { name: "Generate" }).click();
    },
  },
  {
    name: "channel-test",
    path: "/notifications/channels",
    act: async (page) => {
      for (const channel of ["Incident desk", "Administrators"])
        await page.getByRole("button", { name: `Test ${channel}` }).click();
      await page.locator('[data-answer="outbox"]').waitFor(); // the demo has no mail server
      await page.getByText(/^It failed/).waitFor();
    },
  },
  {
    name: "rule-all",
    path: "/notifications/rules/new",
    act: async (page) => {
      await page.getByText("Critical", { exact: true }).first().click(); // none is all
      await page.getByLabel("Quiet hours").check();
      await page.waitForTimeout(1_000);
      await settled(page);
    },
  },
  {
    name: "rule-wrong",
    path: "/notifications/rules/new",
    act: (page) => page.getByRole("button", { name: "Create rule" }).click(),
  },
  { name: "history-empty", path: "/reports/history?kind=DataInventory&status=Expired" },
];

type Found = { id: string; name: string };
const found = async (path: string) =>
  ((await (await apiAs("admin", "GET", path)).json()) as { items: Found[] }).items[0] as Found;

/** lastRequested is the last report that a schedule of the demo requested. */
async function lastRequested(): Promise<string> {
  type Runs = { items: { lastRun: { reportId: string | null } | null }[] };
  const ask = async () => {
    const { items } = (await (await apiAs("admin", "GET", "/api/v1/schedules?pageSize=200")).json()) as Runs;
    return items.map(({ lastRun }) => lastRun?.reportId ?? "").find((id) => id !== "") ?? "";
  };
  await expect.poll(ask, { timeout: 120_000, interval: 1_000 }).not.toBe("");
  return ask();
}

const scores = Array.from({ length: 60 }, (_, n) => ({
  day: new Date(Date.now() - (59 - n) * 86_400_000).toISOString().slice(0, 10),
  score: n < 8 || n === 30 ? null : n < 50 ? 82 - (n % 4) : 72 + (n % 2),
}));
const changed = (kind: string, name: string | null, before: string | null, after: string | null, ago: number) => ({
  at: new Date(Date.now() - ago * 3_600_000).toISOString(),
  kind,
  name,
  before,
  after,
  added: false,
  removed: false,
});

/** toNobody has an alert told to a port where nobody listens, for as long as work takes: deliveries that are tried again. */
async function toNobody<T>(work: () => Promise<T>): Promise<T> {
  const made = async (path: string, body: object) =>
    ((await (await apiAs("admin", "POST", path, body)).json()) as { id: string }).id;
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const hook = { name: "Nobody listens", kind: "webhook", url: "http://127.0.0.1:9/muster", secret };
  const channel = await made("/api/v1/channels", hook);
  const rule = await made("/api/v1/notification-rules", {
    name: "The web shop, all of it",
    match: { severity: [], engine: [], instanceIds: [], nameContains: "demo-mysql-web", event: ["alert.raised"] },
    channelIds: [channel],
    groupSeconds: 0,
    repeatMinutes: 0,
    quiet: null,
  });
  const at = new Date().toISOString();
  const alert = {
    externalId: "pictures",
    title: "Carts are lost",
    severity: "warning",
    state: "Open",
    instance: "demo-mysql-web-01",
  };
  const told = { ...alert, createdAt: at, firstTriggeredAt: at, lastTriggeredAt: at };
  await fed("/ingest/v1/alerts", { alerts: [told] });
  try {
    return await work();
  } finally {
    await fed("/ingest/v1/alerts", { alerts: [{ ...told, state: "Resolved", resolvedAt: new Date().toISOString() }] });
    await apiAs("admin", "DELETE", `/api/v1/notification-rules/${rule}`);
    await apiAs("admin", "DELETE", `/api/v1/channels/${channel}`);
  }
}

/** Of things that the demo has, or makes only after days: panels, an instance that was assessed for weeks, an alert with its chart. */
async function madeUp(): Promise<State[]> {
  const at = (minutes: number) => new Date(Math.floor(Date.now() / 60_000) * 60_000 - minutes * 60_000).toISOString();
  const assessed = await found("/api/v1/instances?q=demo-pg-muster-01");
  const orders = await found("/api/v1/instances?q=demo-pg-orders-01");
  const accepted = await found("/api/v1/findings?pageSize=1");
  const alert = await found("/api/v1/alerts?q=Replication%20lag%20above%2015&status=open");
  const told = await found("/api/v1/alerts?q=Tablespace%20STAGE&status=open");
  const billing = await found("/api/v1/instances?q=demo-pg-billing-01");
  const scheduled = await lastRequested();
  const who = `whoFrom=${at(31)}&whoTo=${at(30)}`;
  return [
    { name: "panel-statement", path: `/?range=1h&who=average&${who}&whoBy=statement` },
    { name: "panel-waits", path: `/?range=1h&who=all&${who}&whoBy=database` },
    { name: "panel-host", path: `/?range=1h&who=cpu&${who}` },
    {
      name: "first-minute",
      path: `/?range=15m&refresh=30s&instanceId=${assessed.id}`,
      before: async (page) => {
        await page.route("**/api/v1/session", async (route) => {
          const answer = await route.fetch();
          const session = (await answer.json()) as { organization: object };
          await route.fulfill({
            response: answer,
            json: { ...session, organization: { ...session.organization, demo: false } },
          });
        });
        await page.route("**/api/v1/instances?**", async (route) => {
          const list = (await (await route.fetch()).json()) as { items: { name: string }[] };
          const items = list.items
            .filter(({ name }) => name === assessed.name)
            .map((i) => ({ ...i, createdAt: at(1), lastAssessedAt: null }));
          await route.fulfill({ json: { ...list, items } });
        });
      },
    },
    {
      name: "instances-scored",
      path: "/instances?sort=-alerts",
      before: (page) =>
        page.route("**/api/v1/instances?**", async (route) => {
          const list = (await (await route.fetch()).json()) as { items: { health: object }[] };
          const items = list.items.map((i, n) => {
            if (n % 4 === 3) return i;
            const scoreHistory = scores.slice(-30).map(({ score }) => score && score - 5 * n);
            return { ...i, health: { ...i.health, score: scoreHistory.at(-1), scoreHistory } };
          });
          await route.fulfill({ json: { ...list, items } });
        }),
    },
    { name: "alert-told", path: `/alerts/${told.id}` },
    { name: "alert-told-viewer", path: `/alerts/${told.id}`, as: "viewer" },
    { name: "instance-told", path: `/instances/${billing.id}?range=1h` },
    {
      name: "report-mail",
      path: `/reports/${scheduled}`,
      act: async (page) => {
        await page
          .getByRole("button", { name: /^Show the e-mail/ })
          .first()
          .click();
        await page.locator("iframe").waitFor();
      },
    },
    { name: "instance-fed", path: `/instances/${orders.id}?range=24h` },
    {
      name: "instance-assessed",
      path: `/instances/${assessed.id}?range=1h`,
      before: async (page) => {
        await page.route(`**/api/v1/instances/${assessed.id}/health`, async (route) => {
          const health = (await (await route.fetch()).json()) as object;
          const changes = [
            changed("setting", "work_mem", "4096 kB", "65536 kB", 3),
            changed("setting", "archive_command", null, null, 3),
            { ...changed("role", "deploy", null, "LOGIN SUPERUSER", 30), added: true },
            changed(
              "grant",
              "SELECT on shop.orders",
              "reporting",
              "reporting, reporting_readonly_of_the_whole_company",
              90,
            ),
            { ...changed("hba", null, null, null, 900), removed: true },
            changed("version", "version", "15.17", "15.18", 2_000),
          ];
          await route.fulfill({ json: { ...health, history: scores, changes } });
        });
        await page.route(`**/api/v1/instances/${assessed.id}/databases*`, async (route) => {
          const list = (await (await route.fetch()).json()) as { items: { sizeBytes: number | null }[] };
          const since = new Date(Date.now() - 29.8 * 86_400_000).toISOString();
          const items = list.items.map((d, n) => ({
            ...d,
            sizeChange: n === 0 && d.sizeBytes ? { bytes: Math.round(d.sizeBytes / 7), since } : null,
          }));
          await route.fulfill({ json: { ...list, items } });
        });
      },
    },
    {
      name: "finding-accepted",
      path: `/findings/${accepted.id}`,
      before: async (page) => {
        const id = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a05";
        await page.route(`**/api/v1/findings/${accepted.id}`, async (route) => {
          const finding = (await (await route.fetch()).json()) as object;
          const acceptedUntil = new Date(Date.now() + 90 * 86_400_000).toISOString();
          const reason = "Behind a firewall until the move in March.";
          await route.fulfill({ json: { ...finding, status: "accepted", exceptionId: id, acceptedUntil, reason } });
        });
        await stub(`**/api/v1/exceptions/${id}`, {
          id,
          requestedBy: { id, name: "Ana Ruiz" },
          decidedBy: { id, name: "Noor Haddad" },
          decidedAt: at(3_000),
        })(page);
      },
    },
    {
      name: "alert-chart",
      path: `/alerts/${alert.id}`,
      before: (page) =>
        page.route(`**/api/v1/alerts/${alert.id}`, async (route) => {
          const shown = (await (await route.fetch()).json()) as object;
          const rule = { id: "volume", name: "Volume nearly full", threshold: 70, unit: "percent" };
          await route.fulfill({ json: { ...shown, firstTriggeredAt: at(180), description: "Free space.", rule } });
        }),
    },
    {
      name: "alerts-bulk",
      path: "/alerts?range=7d",
      act: async (page) => {
        for (const n of [0, 1, 2])
          await page
            .getByRole("checkbox", { name: /^Select / })
            .nth(n + 1)
            .check();
      },
    },
    {
      name: "alerts-bulk-mute",
      path: "/alerts?range=7d",
      act: async (page) => {
        await page
          .getByRole("checkbox", { name: /^Select / })
          .nth(1)
          .check();
        await page
          .getByRole("group", { name: "Actions on the selected alerts" })
          .getByRole("button", { name: "Mute", exact: true })
          .click();
      },
    },
    { name: "statements-slower", path: "/statements?range=3h&only=slower" },
  ];
}

async function pictured({ name, path, as = "admin", before, act }: State) {
  const page = await visit(path, { as, before, expected: [/./] });
  await settled(page).catch((error) => process.stdout.write(`${name}: ${error}\n`));
  await act?.(page);
  await shot(page, name);
  await page.context().close();
}

/** shot takes a page light, dark and narrow. */
async function shot(page: Page, name: string) {
  await page.evaluate(() => window.scrollTo(0, 0)); // what somebody did may be far below
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: join(folder, `${name}-dark.png`), fullPage: true });
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 360, height: 800 });
  await page.waitForTimeout(300); // charts draw anew
  await page.screenshot({ path: join(folder, `${name}-360.png`), fullPage: true });
}

const wanted = process.env.MUSTER_PAGES?.split(",");
const want = (name: string) => !wanted || wanted.includes(name);

test("every page", async () => {
  expect(folder, "MUSTER_SCREENSHOTS names the folder").not.toBe("");
  await mkdir(folder, { recursive: true });
  const all: State[] = [...(await everyPage()), ...states, ...(await madeUp())];
  for (const state of all) if (want(state.name)) await pictured(state);
  if (!want("deliveries-tried")) return;
  await toNobody(async () => {
    const act = async (page: Page) => {
      await page
        .getByText(/2 attempts/)
        .first()
        .waitFor();
    };
    await pictured({ name: "deliveries-tried", path: "/notifications/deliveries", act });
  });
});

/** The mails of the outbox whose subject says so, as their readers get them: the newest of each kind. */
const mails: Record<string, RegExp> = {
  "mail-schedule": /Security Report ready: demo-pg-legacy-01/,
  "mail-report": /Security Report ready: All active instances/,
  "mail-scorecard": /Per-Instance Scorecard ready/,
  "mail-alerts": /Raised .critical.: .* and \d more/,
  "mail-failed": /Report failed/,
};

test("every mail", async () => {
  const outbox = await apiAs("admin", "GET", "/api/v1/ops/outbox");
  const { items } = (await outbox.json()) as { items: { id: string }[] };
  const raws = await Promise.all(
    items.map(async ({ id }) => (await apiAs("admin", "GET", `/api/v1/ops/outbox/${id}`)).json()),
  );
  const all = (raws as { raw: string }[]).map(({ raw }) => readMail(raw));
  const browser = await launch();
  for (const [name, subject] of Object.entries(mails)) {
    const mail = all.find((sent) => subject.test(sent.subject));
    expect(mail?.html, `a mail whose subject is ${subject}, of ${all.map((sent) => sent.subject)}`).toBeTruthy();
    if (!mail?.html || !want(name)) continue;
    const page = await browser.newPage({ viewport: { width: 720, height: 600 } });
    await page.setContent(mail.html);
    await shot(page, name);
    await page.setViewportSize({ width: 720, height: 600 });
    await page.setContent(`<pre style="white-space: pre-wrap"></pre>`);
    await page.locator("pre").evaluate((pre, text) => {
      pre.textContent = text;
    }, `${mail.subject}\n\n${mail.text}`);
    await page.screenshot({ path: join(folder, `${name}-text.png`), fullPage: true });
  }
  await browser.close();
});

const pictures = "../docs/pictures";

/** weekMeasured waits until a demo made just now has its figures of the last seven days. */
const weekMeasured = () => {
  const [from, to] = [Date.now() - 7 * 86_400_000, Date.now()].map((at) => new Date(at).toISOString());
  const week = `/api/v1/metrics/utilization?from=${from}&to=${to}&bucketSize=1h`;
  const oldest = async () => {
    const { series } = (await (await apiAs("admin", "GET", week)).json()) as { series: { cpuPercent: unknown[] } };
    return series.cpuPercent.slice(0, 2);
  };
  return expect.poll(oldest, { timeout: 300_000, interval: 1_000 }).not.toContain(null);
};

/** kept is what README.md shows of a page: WebP, as the same as PNG is four times as large and Playwright itself writes none. */
async function kept(page: Page, name: string) {
  await page.getByRole("complementary", { name: "Demo" }).getByRole("button", { name: "Dismiss" }).click();
  await mkdir(pictures, { recursive: true });
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  await writeFile(join(pictures, `${name}.webp`), Buffer.from(data, "base64"));
  await page.context().close();
}

test("the dashboard, for README.md", async () => {
  await weekMeasured();
  const page = await visit("/?range=7d", { viewport: { width: 1440, height: 1055 } });
  await settled(page);
  await allDrawn(page);
  await kept(page, "dashboard");
});

const viewport = { width: 1280, height: 860 };

test("a server and the findings, for README.md", async () => {
  const server = await found("/api/v1/instances?q=demo-pg-billing-01");
  for (const [name, path] of Object.entries({ server: `/instances/${server.id}?range=24h`, findings: "/findings" })) {
    const page = await visit(path, { viewport });
    await settled(page);
    await kept(page, name);
  }
});

test("the first page of a report, and that it verifies, for README.md", async () => {
  const answer = await apiAs("admin", "GET", "/api/v1/reports?kind=Security&status=Ready&pageSize=20");
  type Ready = { items: { downloadUrl: string; scope: { instanceIds: string[] } }[] };
  const { items } = (await answer.json()) as Ready;
  const ofAll = items.find(({ scope }) => scope.instanceIds.length === 0); // and not the one of a schedule
  const report = join(folder, "security.pdf");
  const file = await apiAs("admin", "GET", ofAll?.downloadUrl ?? "");
  await writeFile(report, Buffer.from(await file.arrayBuffer()));
  await mkdir(pictures, { recursive: true });
  const first = ["-png", "-r", "80", "-f", "1", "-l", "1", "-singlefile"];
  await promisify(execFile)("pdftoppm", [...first, report, join(pictures, "report")]);
  const page = await visit("/reports/verify", { viewport });
  await page.getByLabel("PDF to verify").setInputFiles(report);
  await page.getByText("This file is byte for byte the report").waitFor();
  await settled(page);
  await kept(page, "verified");
});
