import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { apiAs, requestsTo, type Visit, violations, visit } from "./browser";

const patience = { timeout: 10_000 };

const projection = {
  name: "report_history",
  logs: ["reports"],
  status: "running",
  position: 31,
  headPosition: 31,
  lagEvents: 0,
  aheadEvents: 0,
  lagSeconds: 0,
  parked: 0,
  lastError: null,
  updatedAt: "2026-11-20T11:37:42Z",
};

const broken = {
  items: [
    projection,
    {
      ...projection,
      name: "audit",
      status: "stalled",
      position: 4_211,
      headPosition: 4_711,
      lagEvents: 500,
      lagSeconds: 93,
      parked: 2,
    },
    { ...projection, name: "fleet", status: "failed", lastError: "apply instanceRegistered: relation is missing" },
    { ...projection, name: "alerts", status: "rebuilding" },
  ],
};

const none = { items: [] };

/** operations opens a page of operations; answers are stubs by path below /api/v1/ops/. */
const operations = (page: string, answers: Record<string, unknown> = {}, how: Visit = {}) =>
  visit(`/ops/${page}`, {
    ...how,
    before: async (page) => {
      for (const [path, json] of Object.entries(answers)) {
        await page.route(`**/api/v1/ops/${path}`, (route) => route.fulfill({ json }));
      }
      await how.before?.(page);
    },
  });

const row = (page: Page, name: string) => page.locator(`[data-projection="${name}"]`);

/** seen makes the page hidden, or seen again. */
const seen = (page: Page, state: "hidden" | "visible") =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  }, state);

test("39 projections show name, lag, status and last error, and stalled is red and text", async () => {
  const page = await operations("projections", { projections: broken, engines: none });
  await row(page, "report_history").getByText("Running").waitFor();
  const stalled = row(page, "audit");
  expect(await stalled.textContent()).toMatch(/4,211 of 4,711.*500 events.*1 min 33 s.*2 events set aside/);
  await row(page, "fleet").getByText("apply instanceRegistered: relation is missing").waitFor();
  await row(page, "alerts").getByText("Rebuilding").waitFor();
  for (const [name, text] of [
    ["audit", "Stalled"],
    ["fleet", "Failed"],
  ] as const) {
    const mark = row(page, name).getByText(text, { exact: true });
    const [r, g, b] = (await mark.evaluate((e) => getComputedStyle(e).color)).match(/\d+/g)?.map(Number) ?? [];
    expect(Number(r) - Math.max(Number(g), Number(b)), `${text} is red`).toBeGreaterThan(80);
  }
});

test("39 projections are read every 5 s, not at all in a hidden tab, and at once on the way back", async () => {
  const page = await operations("projections", { engines: none }, { before: (page) => page.clock.install() });
  await row(page, "audit").waitFor();
  const asked = requestsTo(page, "/api/v1/ops/projections");
  for (const already of [0, 1]) {
    await page.clock.fastForward(5_100);
    await expect.poll(() => asked.length, patience).toBeGreaterThan(already);
  }
  await seen(page, "hidden");
  const before = asked.length;
  await page.clock.runFor(20_000);
  expect(asked.length - before).toBeLessThanOrEqual(1); // what was on its way
  const paused = asked.length;
  await page.clock.runFor(20_000);
  expect(asked.length).toBe(paused);
  await seen(page, "visible");
  await expect.poll(() => asked.length, patience).toBeGreaterThan(paused);
});

test("39 Rebuild asks to type the name, and shows the difference", async () => {
  const page = await operations("projections", { engines: none });
  await page.getByRole("button", { name: "Rebuild audit" }).click();
  const dialog = page.getByRole("dialog", { name: "Rebuild audit" });
  const rebuild = dialog.getByRole("button", { name: "Rebuild" });
  await dialog.getByLabel("Type audit to confirm").fill("aud");
  expect(await rebuild.isDisabled()).toBe(true);
  await dialog.getByLabel("Type audit to confirm").fill("audit");
  await rebuild.click();
  await page.getByRole("heading", { name: "Last rebuild of audit" }).waitFor({ timeout: 30_000 });
  await page.getByText(/No difference: [\d,]+ rows? in \d+ tables?/).waitFor();
  const diff = (await (await apiAs("auditor", "GET", "/api/v1/ops/projections/audit/diff")).json()) as {
    tables: { table: string }[];
  };
  const tables = page.getByRole("region", { name: "Difference by table" });
  for (const { table } of diff.tables) await tables.getByRole("cell", { name: table, exact: true }).waitFor();
});

test("39 a rebuild that runs already is said in the dialog", async () => {
  const page = await operations(
    "projections",
    { engines: none },
    {
      expected: [/409/],
      before: (page) =>
        page.route("**/api/v1/ops/projections/fleet/rebuild", (route) =>
          route.fulfill({
            status: 409,
            contentType: "application/problem+json",
            json: {
              status: 409,
              code: "rebuild_in_progress",
              title: "Conflict",
              detail: "A rebuild of fleet is in progress.",
              requestId: "ABC",
            },
          }),
        ),
    },
  );
  await page.getByRole("button", { name: "Rebuild fleet" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Type fleet to confirm").fill("fleet");
  await dialog.getByRole("button", { name: "Rebuild" }).click();
  await dialog.getByText("A rebuild of fleet is in progress.").waitFor();
});

test("39 a difference is shown in rows by table", async () => {
  const tables = [{ table: "fleet_instances", rows: 14, onlyOld: 0, onlyNew: 2, different: 1 }];
  const diff = { name: "fleet", empty: false, positions: { fleet: 812 }, tables };
  const page = await operations("projections", { "projections/fleet/diff": diff, engines: none }, { as: "auditor" });
  await page.getByRole("button", { name: "Last difference of fleet" }).click();
  await page.getByText("3 rows of 14 differed. Compared at fleet 812.").waitFor();
  await page.getByRole("row", { name: "fleet_instances 14 0 2 1" }).waitFor();
  expect(await page.getByRole("button", { name: /^Rebuild/ }).count()).toBe(0);
});

const dropped = {
  items: [
    {
      tile: "wait-events",
      engine: "sqlserver",
      drops: 1_200,
      lastAt: "2026-11-20T11:37:42Z",
      lastError: "not read in its share of the time",
    },
  ],
};

test("39 engines that tiles were answered without are listed, and not mentioned where there are none", async () => {
  const page = await operations("projections", { projections: broken, engines: dropped });
  await page.getByRole("heading", { name: "Engines missing from tiles" }).waitFor();
  await page
    .getByRole("row", { name: /^Wait Events SQL Server 1,200 .* not read in its share of the time$/ })
    .waitFor();
  await page.route("**/api/v1/ops/engines", (route) => route.fulfill({ json: none }));
  await page.reload();
  await row(page, "audit").waitFor();
  await expect.poll(() => page.getByRole("heading", { name: /Engines/ }).count(), patience).toBe(0);
});

const loops = {
  items: [
    {
      loop: "watch servers",
      process: "muster-1/2781/k3v9qa",
      falls: 1_203,
      lastAt: "2026-11-20T11:37:42Z",
      inTrouble: true,
    },
    { loop: "assess", process: "muster-2/91/x7b2mm", falls: 1, lastAt: "2026-11-20T11:30:00Z", inTrouble: false },
  ],
};

test("background loops that fell are listed, and not mentioned where none did", async () => {
  const page = await operations("projections", { projections: broken, engines: none, loops });
  await page.getByRole("heading", { name: "Failed background loops" }).waitFor();
  await page.getByRole("row", { name: /^watch servers In trouble 1,203 .* muster-1\/2781\/k3v9qa$/ }).waitFor();
  await page.getByRole("row", { name: /^assess Running again 1 .* muster-2\/91\/x7b2mm$/ }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.route("**/api/v1/ops/loops", (route) => route.fulfill({ json: none }));
  await page.reload();
  await row(page, "audit").waitFor();
  await expect.poll(() => page.getByRole("heading", { name: /loops/ }).count(), patience).toBe(0);
});

const report = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a55";
const jobs = {
  queued: 7,
  building: 1,
  items: [
    {
      reportId: report,
      status: "running",
      attempts: 1,
      workerId: "db-host-4242",
      leasedUntil: new Date(Date.now() + 30_000).toISOString(),
    },
    { reportId: report.replace(/55$/, "56"), status: "queued", attempts: 0, workerId: null, leasedUntil: null },
    { reportId: report.replace(/55$/, "57"), status: "dead", attempts: 5, workerId: null, leasedUntil: null },
  ],
};

test("the queue shows who builds which report", async () => {
  const page = await operations("jobs", { jobs });
  await page.getByText("1 being built, 7 waiting").waitFor();
  const running = page.getByRole("row", { name: /Running 1 db-host-4242/ });
  expect(await running.getByRole("link").getAttribute("href")).toBe(`/reports/${report}`);
  await page.getByRole("row", { name: /Queued 0 none none/ }).waitFor();
  await page.getByRole("row", { name: /Dead/ }).getByRole("link", { name: "Dead letters" }).waitFor();
});

const letters = [
  {
    id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a10",
    kind: "event",
    source: "report_history",
    subject: report,
    error: "cannot be applied",
    attempts: 5,
    waiting: 2,
    at: "2026-11-20T11:37:42Z",
    endings: [],
  },
  {
    id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a11",
    kind: "job",
    source: "build",
    subject: report,
    error: "the disk is full",
    attempts: 5,
    waiting: 0,
    at: null,
    endings: [
      { attempt: 1, at: "2026-11-20T11:30:00Z", workerId: "w1", how: "lost", class: "", error: "" },
      {
        attempt: 2,
        at: "2026-11-20T11:37:42Z",
        workerId: "w2",
        how: "failed",
        class: "other",
        error: "the disk is full",
      },
    ],
  },
];

/** deadLetters stubs them, and keeps what the page does to them. */
async function deadLetters(page: Page): Promise<string[]> {
  const done: string[] = [];
  let left = letters;
  await page.route("**/api/v1/ops/dead-letters**", (route) => {
    const request = route.request();
    if (request.method() === "GET") return route.fulfill({ json: { items: left } });
    const path = new URL(request.url()).pathname.replace("/api/v1/ops/dead-letters/", "");
    done.push(`${request.method()} ${path}`);
    left = left.filter((l) => !path.startsWith(l.id));
    return route.fulfill({ status: request.method() === "DELETE" ? 204 : 202 });
  });
  await page.route(`**/api/v1/reports/${report}`, (route) =>
    route.fulfill({
      json: { id: report, kind: "Security", scope: { instanceIds: [], databaseId: null, from: null, to: null } },
    }),
  );
  return done;
}

test("dead letters say what failed and why, and are retried, requested again or dropped", async () => {
  let done: string[] = [];
  const page = await visit("/ops/dead-letters", {
    before: async (page) => {
      done = await deadLetters(page);
    },
  });
  const event = page.locator(`[data-letter="${letters[0]?.id}"]`);
  const job = page.locator(`[data-letter="${letters[1]?.id}"]`);
  expect(await event.textContent()).toMatch(
    /An event that report_history cannot apply.*cannot be applied.*5 attempts · 2 events wait behind it/,
  );
  await event.getByRole("button", { name: "Details" }).click();
  await event.getByText(`muster dead show ${letters[0]?.id}`).waitFor();
  await event.getByRole("button", { name: "Retry" }).click();
  await expect.poll(() => event.count(), patience).toBe(0);
  // Its report has ended: building it again would do nothing.
  const again = job.getByRole("link", { name: "Request again" });
  await again.waitFor();
  expect(await again.getAttribute("href")).toMatch(/^\/reports\/view\?.*Security/);
  expect(await job.getByRole("button", { name: "Retry" }).count()).toBe(0);
  await job.getByRole("button", { name: "Details" }).click();
  await job.getByText(/attempt 1 on w1 ended without a word from the worker/).waitFor();
  await job.getByText(/attempt 2 on w2 failed: the disk is full/).waitFor();
  await job.getByRole("button", { name: "Drop" }).click();
  const dialog = page.getByRole("dialog", { name: "Drop it permanently" });
  await dialog.getByRole("button", { name: "Drop" }).click();
  await page.getByText("No dead letters").waitFor();
  expect(done).toEqual([`POST ${letters[0]?.id}/retry`, `DELETE ${letters[1]?.id}`]);
});

test("the outbox shows a mail as a mail client does, with its links", async () => {
  const page = await visit("/ops/outbox");
  await page
    .getByRole("button", { name: /Security Report ready/ })
    .first()
    .click();
  await page.getByRole("heading", { level: 2, name: /Security Report ready/ }).waitFor();
  await page.getByText(/From "Muster" <muster@localhost> to "/).waitFor();
  const letter = page.frameLocator("iframe");
  const link = letter.getByRole("link", { name: "Sign in and download" });
  await link.waitFor();
  const address = await link.getAttribute("href");
  expect(address).toMatch(/\/exports\?reportId=[0-9a-f-]{36}$/);
  await page.getByText("Text", { exact: true }).click();
  const plain = page.getByRole("link", { name: address ?? "" });
  await plain.waitFor();
  expect(await plain.getAttribute("href")).toBe(address);
  expect(new URL(page.url()).searchParams.get("mailId")).toBeTruthy();
  await page.getByRole("button", { name: "All e-mails" }).click();
  await page
    .getByRole("button", { name: /Data Inventory ready/ })
    .first()
    .waitFor();
});

test("the outbox says where mails are when it is empty", async () => {
  const page = await operations("outbox", { outbox: none });
  await page.getByText(/e-mails go there/).waitFor();
});

describe("40 operations have no violation of WCAG, whatever they show", () => {
  const stubs = { projections: broken, engines: dropped, jobs };

  test("40 projections", async () => {
    const page = await operations("projections", stubs);
    await row(page, "audit").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("40 what asks to rebuild one", async () => {
    const page = await operations("projections", stubs);
    await page.getByRole("button", { name: "Rebuild report_history" }).click();
    await page.getByLabel("Type report_history to confirm").fill("report_history");
    expect(await violations(page)).toEqual([]);
  });

  test("40 jobs and dead letters", async () => {
    const page = await operations("jobs", stubs, { before: deadLetters });
    await page.getByRole("row", { name: /Queued/ }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto("/ops/dead-letters");
    await page.getByRole("button", { name: "Details" }).first().click();
    expect(await violations(page)).toEqual([]);
  });

  test("40 mails, and one of them", async () => {
    const page = await operations("outbox", stubs);
    const mail = page.getByRole("button", { name: /Security Report ready/ }).first();
    await mail.waitFor();
    expect(await violations(page)).toEqual([]);
    await mail.click();
    await page.frameLocator("iframe").getByRole("link").first().waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

test("Senders: what was used and what was not, and why, is told apart for each sender and never added up", async () => {
  const door = "/ingest/v1/prometheus/write";
  const counted = (name: string, reason: string | null, count: number) => ({ door, name, reason, count });
  const sender = {
    tokenId: "01935c9a-7000-7000-8000-000000000001",
    token: "prometheus-01",
    sender: null,
    doors: [door],
  };
  const items = [
    {
      ...sender,
      lastAt: new Date().toISOString(),
      counts: [
        ...Array.from({ length: 12 }, (_, n) => counted(`node_metric_${n}`, "not_used", 1_440 - n)),
        counted("", "no_instance", 7),
        counted("node_load1", null, 1_440),
        counted("", null, 3),
      ],
    },
  ];
  const page = await operations("senders", { senders: { items } });
  const shown = page.getByRole("region", { name: "prometheus-01" });
  const half = (title: string) => shown.locator(`[data-half="${title}"]`);
  await shown.getByText("1 reason to look at").waitFor();
  const rows = half("Not used").getByRole("row");
  expect((await rows.allTextContents()).slice(0, 5)).toEqual([
    "NameCount",
    "It names no server of that engine, or several",
    "Without a name, or after the first 2007",
    "Muster does not show it",
    "node_metric_01,440",
  ]);
  expect(await rows.count()).toBe(11);
  await half("Not used")
    .getByRole("button", { name: /^Show all 13/ })
    .click();
  expect(await rows.count()).toBe(16);
  expect(await half("Used").getByRole("row").allTextContents()).toEqual([
    "NameCount",
    "node_load11,440",
    "Names after the first 2003",
  ]);
  expect(await violations(page)).toEqual([]);
});

test("Senders: where nothing was sent, the page says what would be there", async () => {
  const page = await operations("senders", { senders: none });
  await page.getByText("Nothing was sent in the last 24 hours").waitFor();
  await page.getByRole("link", { name: "Connect an agent" }).waitFor();
});
