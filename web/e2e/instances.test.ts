import { execFileSync } from "node:child_process";
import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { apiAs, fed, readable, requestsTo, serverUrl, testLong, unique, violations, visit } from "./browser";
import { sideways } from "./pages";

const patience = { timeout: 10_000 };

type Instance = Record<string, unknown> & { id: string; name: string };

const listed = async (query: string) =>
  ((await (await apiAs("admin", "GET", `/api/v1/instances?${query}`)).json()) as { items: Instance[] }).items;

/** collected is the one demo server that Muster itself looks at: its private PostgreSQL. */
const collected = async () => (await listed("q=demo-pg-muster-01"))[0] as Instance;

const answer =
  (body: unknown, status = 200) =>
  (route: Route) =>
    route.fulfill({ status, json: body });

const grants = [
  {
    object: "pg_authid in database orders",
    statement: "GRANT SELECT ON pg_catalog.pg_authid TO muster;",
    checks: ["PG-S11"],
    database: "orders",
    needed: false,
    reveals: "the hashes of all passwords",
    declinable: true,
  },
  {
    object: "pg_stat_statements",
    statement: "GRANT pg_read_all_stats TO muster",
    checks: ["PG-P01"],
    database: null,
    needed: true,
    reveals: null,
    declinable: false,
  },
];

test("the list searches, filters and keeps both in the address", async () => {
  const page = await visit("/instances");
  await page.getByRole("link", { name: "demo-mssql-erp-01" }).waitFor();
  const asked = requestsTo(page, "/api/v1/instances");
  await page.getByRole("searchbox", { name: "Search instances" }).fill("retired");
  await page.getByRole("link", { name: "demo-pg-retired-01" }).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "demo-mssql-erp-01" }).count(), patience).toBe(0);
  expect(new URL(page.url()).search).toBe("?q=retired");
  expect(asked.map((url) => url.search)).toEqual(["?q=retired"]);
  await page
    .getByRole("row", { name: /demo-pg-retired-01/ })
    .getByText("Inactive")
    .waitFor();

  await page.goto("/instances?engine=oracle&engine=mongodb&status=active");
  await page.getByText("3 of 3 instances").waitFor();
  await page.getByRole("link", { name: "demo-ora-core-01" }).click();
  await page.getByRole("heading", { level: 1, name: "demo-ora-core-01" }).waitFor();
  await page.goBack();
  await page.getByText("3 of 3 instances").waitFor();
});

testLong("all columns of the list have room on a laptop, and its filters are in one row", async () => {
  const page = await visit("/instances", { as: "admin" });
  await page.setViewportSize({ width: 1366, height: 900 });
  const list = page.getByRole("region", { name: "Instances" });
  await list.getByRole("link", { name: "demo-pg-orders-01" }).waitFor();
  expect(await list.evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0);
  const tops = ["Search instances", "Engine", "Status"].map((name) => page.getByLabel(name, { exact: true }).first());
  const group = page.getByLabel("Group", { exact: true }).first();
  const rows = await Promise.all(
    [...tops, group].map(async (field) => Math.round((await field.boundingBox())?.y ?? 0)),
  );
  expect(Math.max(...rows) - Math.min(...rows)).toBeLessThan(20);
});

testLong("a server that was heard from and is not any more is silent, an inactive one is not", async () => {
  const [model] = await listed("q=demo-pg-orders-01");
  const old = new Date(Date.now() - 6 * 60_000).toISOString();
  const items = [
    { ...model, id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01", name: "quiet", lastSeenAt: old, status: "silent" },
    {
      ...model,
      id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a02",
      name: "paused",
      lastSeenAt: old,
      active: false,
      status: "inactive",
    },
    {
      ...model,
      id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a03",
      name: "away",
      lastError: "Connection refused at db01:5432.",
    },
    {
      ...model,
      id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a04",
      name: "short",
      missingGrants: grants,
      missingGrantCount: 2,
      neededGrantCount: 1,
    },
  ];
  const page = await visit("/instances", {
    before: (page) =>
      page.route(
        /\/api\/v1\/instances\?|\/api\/v1\/instances$/,
        answer({ items, page: { number: 1, size: 20, totalItems: 4, totalPages: 1 } }),
      ),
  });
  await page
    .getByRole("row", { name: /Select quiet/ })
    .getByText("Silent")
    .waitFor();
  await page
    .getByRole("row", { name: /Select paused/ })
    .getByText("Inactive")
    .waitFor();
  await page
    .getByRole("row", { name: /Select away/ })
    .getByText("Connection refused at db01:5432.")
    .waitFor();
  await page
    .getByRole("row", { name: /Select short/ })
    .getByText("1 missing grant")
    .waitFor();
});

test("figures that cannot be read are said to be missing, and the servers are there", async () => {
  const [model] = await listed("q=demo-pg-orders-01");
  const why = "A server that older measurements are kept on is not responding.";
  const figures = ["openAlerts", "criticalAlerts", "cpuPercent", "memoryPercent", "diskPercent", "connections"];
  const server = {
    ...model,
    health: {
      ...(model?.health as object),
      ...Object.fromEntries(figures.map((figure) => [figure, null])),
      scoreHistory: null,
    },
    unavailable: figures.map((figure) => ({ figure: `health.${figure}`, code: "unavailable", sentence: why })),
  } as unknown as Instance;
  const page = await visit("/instances", {
    before: async (page) => {
      await page.route(
        /\/api\/v1\/instances\?|\/api\/v1\/instances$/,
        answer({ items: [server], page: { number: 1, size: 20, totalItems: 1, totalPages: 1 } }),
      );
      await page.route(`**/api/v1/instances/${server.id}`, answer(server));
    },
  });
  const said = `Not available right now: alerts, CPU, memory, disk, connections. ${why}`;
  await page.getByText(said).waitFor();
  const row = page.getByRole("row", { name: new RegExp(`^Select ${server.name}`) });
  expect(await row.getByText("not known").count()).toBe(5);
  expect(await row.getByText("0 %").count()).toBe(0);
  await row.getByRole("link", { name: server.name }).click();
  await page.getByRole("heading", { level: 1, name: server.name }).waitFor();
  await page.getByText(said).waitFor();
});

test("38 a member sees no way to add, connect or change a server", async () => {
  const { id } = await collected();
  const page = await visit("/instances", { as: "member" });
  await page.getByRole("link", { name: "demo-pg-muster-01" }).waitFor();
  expect(await page.getByRole("link", { name: /Add an instance|Connect an agent/ }).count()).toBe(0);
  await page.goto(`/instances/${id}`);
  await page.getByRole("link", { name: "Request a scorecard" }).waitFor();
  expect(await page.getByRole("button", { name: /Assess now|Change/ }).count()).toBe(0);
  for (const address of ["/instances/new", "/instances/connect"]) {
    await page.goto(address);
    await page
      .getByText(/administrator/i)
      .first()
      .waitFor();
    expect(await page.getByRole("button", { name: /Test and add|Create an ingest token/ }).count()).toBe(0);
  }
});

test("a server shows what it lacks, and leads to its alerts, dashboard and scorecard", async () => {
  const { id } = await collected();
  const page = await visit(`/instances/${id}`);
  const statements = page.getByRole("region", { name: "Script with all grants" });
  await statements.waitFor();
  expect(await statements.textContent()).toMatch(/^(-- )?GRANT .*;$/m);
  await page.getByText(/For .*PG-S11/).waitFor();
  const databases = page.getByRole("region", { name: "Databases" });
  await databases.getByRole("cell", { name: "shop" }).waitFor();
  for (const [name, address] of [
    ["Alerts for this instance", `/alerts?instanceId=${id}`],
    ["Dashboard for this instance", `/?instanceId=${id}`],
    ["Request a scorecard", `/reports/view?kind=InstanceScorecard&instanceId=${id}`],
  ] as const) {
    expect(await page.getByRole("link", { name }).getAttribute("href")).toBe(address);
  }
  await page.getByRole("searchbox", { name: "Search databases" }).fill("sho");
  await expect.poll(() => databases.getByRole("cell", { name: "postgres" }).count(), patience).toBe(0);
  expect(new URL(page.url()).search).toBe("?q=sho");
});

test("a server shows the agent that measures it, as its last report says", async () => {
  // Of its own: the demo's agents say by the minute that theirs are up.
  const name = unique("e2e-agent").replace(" ", "-");
  const server = { externalId: name, name, engine: "oracle", active: true, createdAt: new Date().toISOString() };
  const made = await fed<{ instances: { id: string }[] }>("/ingest/v1/fleet", { instances: [server] });
  const id = made.instances[0]?.id ?? "";
  await readable(`/api/v1/instances/${id}`);
  const token = (await (await apiAs("admin", "POST", "/api/v1/ingest-tokens", { name: "e2e agent" })).json()) as {
    id: string;
    token: string;
  };
  const buffer = { bytes: 5000, maxBytes: 2 ** 30, records: 7, oldestAt: "2026-11-20T10:00:00Z", facts: 2, refused: 0 };
  const report = async (more: object, grants: object[]) => {
    const at = new Date().toISOString();
    const error = grants.length > 0 ? { class: "refused", detail: "db02 refuses connections.", at } : null;
    const servers = [{ instance: name, error, missingGrants: grants, signs: [] }];
    const sent = await fetch(`${serverUrl}/ingest/v1/agents`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${token.token}`,
        "Content-Type": "application/json",
        "X-Muster-Sender": "e2e-agent",
      },
      body: JSON.stringify({
        name: "beside",
        version: "1.2",
        host: "db02",
        at,
        buffer: { ...buffer, dropped: {}, ...more },
        servers,
      }),
    });
    expect(sent.status).toBe(204);
  };
  try {
    await report({}, []);
    const page = await visit(`/instances/${id}`, { viewport: { width: 360, height: 900 } });
    const panel = page.locator("[data-agent]");
    await panel.waitFor();
    expect(await panel.textContent()).toMatch(
      /beside.*db02.*1\.2.*4\.9 KB of measurements and 2 facts.*Never sentnothing/,
    );
    expect(await sideways(page)).toBe(false);
    await report({ bytes: 0, oldestAt: null, facts: 0, refused: 1, dropped: { buffer_full: 12 } }, [
      { object: "V_$SESSION", statement: "GRANT SELECT ON V_$SESSION TO muster" },
    ]);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.reload();
    await panel.getByText("12: its buffer or its disk was full, and the oldest went").waitFor();
    expect(await panel.textContent()).toMatch(/Waits to be sentnothing.*Refused1 fact/);
    await page.locator('[data-status="down"]').getByText("db02 refuses connections.").waitFor();
    await page.getByText("Run muster agent check on the agent's machine: it prints the statements.").waitFor();
    await page.route(`**/api/v1/instances/${id}`, async (route) => {
      const shown = await (await route.fetch()).json();
      shown.agent.seenAt = new Date(Date.parse(shown.agent.seenAt) - 6 * 60_000).toISOString();
      await route.fulfill({ json: shown });
    });
    await page.reload();
    await panel.getByText("The agent is silent: it reported last 6 min ago").waitFor();
    expect(await violations(page)).toEqual([]);
  } finally {
    await apiAs("admin", "DELETE", `/api/v1/ingest-tokens/${token.id}`);
    await apiAs("admin", "DELETE", `/api/v1/instances/${id}`);
  }
});

test("a server that is not there says so", async () => {
  const page = await visit("/instances/0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01", { expected: [/404/] });
  await page.getByRole("heading", { name: "Instance not found" }).waitFor();
});

test("Assess now is followed until it is done", async () => {
  const { id, lastAssessedAt } = await collected();
  const page = await visit(`/instances/${id}`);
  await page.getByRole("button", { name: "Assess now" }).click();
  await page.getByText("Assessment running").waitFor();
  await page.getByText("demo-pg-muster-01 was assessed.").waitFor({ timeout: 30_000 });
  expect((await collected()).lastAssessedAt).not.toBe(lastAssessedAt);
});

testLong("an assessment that fails says so, and one that no collector takes up is not waited for", async () => {
  const before = await collected();
  const lastError = "Connection refused at db01:5432.";
  const failed = (lastErrorAt: string) => ({ ...before, lastError, lastErrorAt });
  let shown = failed("2026-11-24T20:00:00Z"); // as at every attempt before
  let reads = 0; // since it was asked for
  const page = await visit(`/instances/${before.id}`, {
    before: async (page) => {
      await page.clock.install();
      await page.route(`**/api/v1/instances/${before.id}`, (route) => {
        reads++;
        return route.fulfill({ json: shown });
      });
      await page.route(`**/api/v1/instances/${before.id}/assess`, (route) => {
        reads = 0;
        return route.fulfill({ status: 202, json: shown });
      });
    },
  });
  const assess = page.getByRole("button", { name: "Assess now" });
  const running = page.getByText("Assessment running");
  await assess.click();
  await running.waitFor();
  shown = failed("2026-11-24T20:00:05Z");
  const said = page.getByRole("alert").filter({ hasText: `${before.name} was not assessed` });
  await said.getByText(lastError).waitFor();
  await running.waitFor({ state: "hidden" });

  await assess.click();
  await expect.poll(() => reads, patience).toBeGreaterThan(1); // it is followed
  await page.clock.fastForward(120_000);
  await page.getByText(`${before.name} still waits to be assessed`).waitFor();
  await running.waitFor({ state: "hidden" });
});

const box = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });

async function fill(page: Page, host: string, port: string) {
  await box(page, "Name").fill("orders");
  await box(page, "Host").fill(host);
  await box(page, "Port").fill(port);
  await box(page, "Password").fill("p@ss/word");
}

test("a refused connection says its class, what to do, goes to the field, and has no violation of WCAG", async () => {
  const page = await visit("/instances/new", { expected: [/422/] });
  await page.getByRole("button", { name: "Test and add" }).click();
  await page.getByText("Enter the host.").waitFor();
  await expect.poll(() => box(page, "Name").evaluate((e) => e === document.activeElement), patience).toBe(true);

  await fill(page, "127.0.0.1", "1");
  await page.getByRole("button", { name: "Test and add" }).click();
  const note = page.locator('[role="alert"][data-class="refused"]');
  await note.getByText("Connection refused", { exact: true }).waitFor();
  await note.getByText(/listen_addresses/).waitFor();
  const host = box(page, "Host");
  await expect.poll(() => host.evaluate((e) => e === document.activeElement), patience).toBe(true);
  expect(await host.getAttribute("aria-invalid")).toBe("true");
  const described = (await host.getAttribute("aria-describedby"))?.split(" ") ?? [];
  const texts = await Promise.all(described.map((id) => page.locator(`[id="${id}"]`).textContent()));
  expect(texts.join(" ")).toContain("Connection refused at 127.0.0.1:1");
  expect(await violations(page)).toEqual([]);
});

const script = "-- Needed.\nGRANT pg_read_all_stats TO muster;\n";

test("a server is added once, waits for its first look and then shows the grants it lacks", async () => {
  const known = await collected();
  const existing = known.id;
  const made = {
    ...known,
    id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a09",
    name: "orders",
    missingGrants: [],
  };
  const waiting = { ...made, lastSeenAt: null, lastAssessedAt: null, lastClassifiedAt: null, databaseCount: 0 };
  const sent: { key: string | undefined; body: unknown }[] = [];
  let looks = 0;
  const page = await visit("/instances/new", {
    expected: [/ERR_FAILED/],
    before: async (page) => {
      await page.route("**/api/v1/instances", (route) => {
        const request = route.request();
        if (request.method() !== "POST") return route.fallback();
        sent.push({ key: request.headers()["idempotency-key"], body: request.postDataJSON() });
        return sent.length === 1 ? route.abort() : route.fulfill({ status: 201, json: waiting });
      });
      await page.route(`**/api/v1/instances/${made.id}`, (route) =>
        route.fulfill({
          json:
            looks++ < 1
              ? waiting
              : { ...made, missingGrants: grants, missingGrantCount: 2, neededGrantCount: 1, grantScript: script },
        }),
      );
      await page.route(`**/api/v1/instances/${made.id}/health`, (route) =>
        route.fulfill({
          json: { score: null, grade: null, domains: [], assessedAt: null, history: [], settings: [], changes: [] },
        }),
      );
      await page.route(`**/api/v1/instances/${made.id}/databases*`, (route) =>
        route.fulfill({ json: { items: [], page: { number: 1, size: 20, totalItems: 0, totalPages: 0 } } }),
      );
      await page.route(`**/api/v1/instances/${made.id}/notification-rules`, (route) =>
        route.fulfill({ json: { items: [] } }),
      );
      // The server does not exist: what it tells of itself is that of one that does.
      for (const part of ["replication", "transactions", "backups", "capacity", "maintenance"]) {
        await page.route(`**/api/v1/instances/${made.id}/${part}*`, async (route) =>
          route.fulfill({ response: await route.fetch({ url: route.request().url().replace(made.id, existing) }) }),
        );
      }
    },
  });
  await fill(page, "db01", "5433");
  await page.getByRole("button", { name: "Test and add" }).click();
  await page.getByText("The server did not answer.").waitFor(); // the page, not the database
  await page.getByRole("button", { name: "Test and add" }).click();
  await page.getByText("First assessment running").waitFor();
  const statements = page.getByRole("region", { name: "Script with all grants" });
  await statements.waitFor();
  expect(await statements.textContent()).toBe(script);
  const panel = page.locator("[data-missing-grants]"); // F11: one button copies all
  expect(await panel.getByRole("button", { name: /^Copy/ }).count()).toBe(1);
  await panel.getByText("Reveals the hashes of all passwords.").waitFor();
  await page.getByText("For PG-P01.").waitFor();
  await panel.getByRole("button", { name: "Decline pg_authid" }).waitFor();
  expect(await panel.getByRole("button", { name: /^Decline/ }).count()).toBe(1);
  expect(sent[0]?.body).toEqual({
    name: "orders",
    engine: "postgresql",
    classify: "names",
    dsn: "postgres://muster:p%40ss%2Fword@db01:5433/?sslmode=prefer",
  });
  expect(sent).toHaveLength(2);
  expect(sent[0]?.key).toMatch(/^[0-9a-f]{32}$/);
  expect(sent[1]).toEqual(sent[0]);
});

// C10.
testLong("a server that is registered already leads to its instance, and can be registered separately", async () => {
  const known = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01";
  const made = {
    ...(await collected()),
    server: {
      system: "7",
      role: "primary",
      pooler: "transaction",
      movedAt: new Date().toISOString(),
      sameAs: [{ id: known, name: "shop-main", role: "primary" }],
      related: [{ id: known.replace("a01", "a02"), name: "shop-standby", role: "standby" }],
    },
  };
  const sent: object[] = [];
  const page = await visit("/instances/new", {
    expected: [/409/, /404/],
    before: (page) =>
      page.route(/\/api\/v1\/instances$/, async (route) => {
        const body = route.request().postDataJSON();
        sent.push(body);
        if (body.separate) return route.fulfill({ status: 201, json: made });
        const detail = "The connection leads to the server of the instance shop-main.";
        const params = { instanceId: known, instanceName: "shop-main" };
        await route.fulfill({
          status: 409,
          contentType: "application/problem+json",
          json: {
            type: "about:blank",
            title: "The server is registered already",
            status: 409,
            code: "already_registered",
            detail,
            errors: [{ in: "body", pointer: "#/dsn", code: "already_registered", detail, params }],
          },
        });
      }),
  });
  await fill(page, "db01", "5433");
  await page.getByRole("button", { name: "Test and add" }).click();
  const told = page.locator("[data-already-registered]");
  expect(await told.getByRole("link", { name: "shop-main" }).getAttribute("href")).toBe(`/instances/${known}`);
  expect(await violations(page)).toEqual([]);
  await page.route(`**/api/v1/instances/${made.id}`, (route) => route.fulfill({ json: made }));
  await told.getByRole("button", { name: "Register separately" }).click();
  await page.getByText("This server is registered twice").waitFor();
  await page.getByText("Another server answers at this address").waitFor();
  await page.getByText("A pooler in transaction mode answers").waitFor();
  await page.getByText("Primary of shop-standby").waitFor();
  expect(sent).toHaveLength(2);
  expect(sent[1]).toEqual({ ...sent[0], separate: true });
});

testLong("the first server leads to the dashboard, also where the list is slow", async () => {
  const made = await collected();
  let added = () => {};
  const until = new Promise<void>((resolve) => {
    added = resolve;
  });
  const page = await visit("/instances/new", {
    before: (page) =>
      page.route(/\/api\/v1\/instances(\?pageSize=1)?$/, async (route) => {
        if (route.request().method() === "POST") {
          await route.fulfill({ status: 201, json: made });
          return added();
        }
        await until;
        await route.fulfill({ json: { items: [made], page: { number: 1, size: 1, totalItems: 1, totalPages: 1 } } });
      }),
  });
  await fill(page, "db01", "5433");
  await page.getByRole("button", { name: "Test and add" }).click();
  await page.waitForURL((url) => url.pathname === "/" && url.searchParams.get("instanceId") === made.id);
});

test("a SQL Server is added by its own fields, and one that does not answer says so at its host", async () => {
  const page = await visit("/instances/new", { expected: [/422/] });
  await fill(page, "127.0.0.1", "1");
  await page.getByRole("combobox", { name: "Engine" }).click();
  await page.getByRole("option", { name: "SQL Server" }).click();
  await page.locator('[data-never-met="sqlserver"]').waitFor();
  const script = page.getByRole("region", { name: "On the instance" });
  const printed = (...of: string[]) =>
    execFileSync("../bin/muster", ["agent", "grants", "--engine", ...of], { encoding: "utf8" }).trim();
  await expect.poll(() => script.textContent(), patience).toBe(printed("sqlserver", "--version", "2022"));
  await page.getByText("2016 to 2019").click();
  await expect.poll(() => script.textContent(), patience).toBe(printed("sqlserver", "--version", "2016"));
  await box(page, "Database").fill("shop");
  await box(page, "Name in the certificate").fill("sql.example.org");
  expect(await violations(page)).toEqual([]);
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/instances"));
  await page.getByRole("button", { name: "Test and add" }).click();
  expect((await sent).postDataJSON()).toEqual({
    name: "orders",
    engine: "sqlserver",
    classify: "names",
    dsn: "sqlserver://muster:p%40ss%2Fword@127.0.0.1:1?database=shop&encrypt=true&hostNameInCertificate=sql.example.org",
  });
  await page
    .locator('[role="alert"][data-class="refused"]')
    .getByText(/TCP\/IP is switched on/)
    .waitFor();
  await expect.poll(() => box(page, "Host").getAttribute("aria-invalid"), patience).toBe("true");

  await page.getByRole("combobox", { name: "Engine" }).click();
  await page.getByRole("option", { name: "Oracle" }).click();
  expect(await page.locator('[role="alert"][data-class]').count()).toBe(0);
  await expect.poll(() => script.textContent(), patience).toBe(printed("oracle"));
  await box(page, "Service or SID").fill("");
  await page.getByRole("button", { name: "Test and add" }).click();
  await page.getByText("Enter a service or a SID.").waitFor();
});

testLong("an engine that Muster does not connect to leads to push", async () => {
  const page = await visit("/instances/new");
  await page.getByRole("combobox", { name: "Engine" }).click();
  await page.getByRole("option", { name: "MongoDB" }).click();
  await page.getByText(/does not connect to MongoDB/).waitFor();
  expect(await page.getByRole("button", { name: "Test and add" }).count()).toBe(0);
  await page.getByRole("link", { name: "How to push data" }).click();
  await page.getByRole("tab", { name: "Push (curl)", selected: true }).waitFor();
});

test("a token is filled into every snippet, and its first message is seen", async () => {
  const page = await visit("/instances/connect");
  await page.getByLabel("Name").fill("e2e connect page");
  await page.getByRole("button", { name: "Create an ingest token" }).click();
  const shown = page.getByRole("region", { name: "Ingest token" });
  await shown.waitFor();
  const token = (await shown.textContent()) ?? "";
  const tokens = (await (await apiAs("admin", "GET", "/api/v1/ingest-tokens")).json()) as {
    items: { id: string; name: string; prefix: string }[];
  };
  const mine = tokens.items.find((t) => token.startsWith(t.prefix) && t.name === "e2e connect page");
  try {
    expect(token).toMatch(/^mst_ing_\w+/);
    const panel = page.getByRole("tabpanel");
    for (const agent of ["vmagent", "OpenTelemetry", "Alertmanager", "Push (curl)", "Prometheus"]) {
      await page.getByRole("tab", { name: agent }).click();
      await expect.poll(() => panel.textContent(), patience).toContain(token);
      expect(await panel.textContent()).toContain(new URL(page.url()).origin);
    }
    expect(new URL(page.url()).search).toBe("?agent=prometheus");
    await page.getByText("Waiting for the first sample…").waitFor();
    const sent = await fetch(`${serverUrl}/ingest/v1/alertmanager/webhook`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ version: "4", status: "firing", alerts: [] }),
    });
    expect(sent.status).toBe(200);
    await page.getByText("It works").waitFor();
  } finally {
    if (mine) await apiAs("admin", "DELETE", `/api/v1/ingest-tokens/${mine.id}`);
  }
  await page.reload();
  await page.getByRole("button", { name: "Create an ingest token" }).waitFor();
  expect(await page.getByText(token).count()).toBe(0);
});

test("a server is removed only when its name was typed", async () => {
  const { id, name } = await collected();
  const methods: string[] = [];
  const page = await visit(`/instances/${id}`, {
    before: (page) =>
      page.route(`**/api/v1/instances/${id}`, (route) => {
        if (route.request().method() === "GET") return route.fallback();
        methods.push(route.request().method());
        return route.fulfill({ status: 204 });
      }),
  });
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  const dialog = page.getByRole("dialog", { name: `Remove ${name}` });
  await dialog.getByText(/event log entries stay/).waitFor();
  const remove = dialog.getByRole("button", { name: "Remove" });
  await dialog.getByLabel(/Type .* to confirm/).fill("demo-pg-muster");
  expect(await remove.isDisabled()).toBe(true);
  await dialog.getByLabel(/Type .* to confirm/).fill(name);
  await remove.click();
  await page.getByRole("heading", { level: 1, name: "Instances" }).waitFor();
  expect(methods).toEqual(["DELETE"]);
});

testLong("a server is renamed, and a new connection is tried first", async () => {
  const { id, name } = await collected();
  const bodies: unknown[] = [];
  const before = await collected();
  const page = await visit(`/instances/${id}`, {
    expected: [/422/],
    before: (page) =>
      page.route(`**/api/v1/instances/${id}`, (route) => {
        const request = route.request();
        if (request.method() !== "PATCH") return route.fallback();
        const body = request.postDataJSON() as { dsn?: string; name?: string };
        bodies.push(body);
        if (body.dsn) return route.fallback();
        return route.fulfill({ json: { ...before, ...body } });
      }),
  });
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("pg-renamed");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { level: 1, name: "pg-renamed" }).waitFor();

  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByRole("menuitem", { name: "Change the connection" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("URL", { exact: true }).click();
  await dialog.getByLabel("Connection URL").fill("postgres://nobody@127.0.0.1:1/postgres");
  await dialog.getByRole("button", { name: "Test and save" }).click();
  await dialog.locator('[data-class="refused"]').waitFor();
  expect(bodies).toEqual([{ name: "pg-renamed" }, { dsn: "postgres://nobody@127.0.0.1:1/postgres" }]);
  expect((await collected()).name).toBe(name);
});

testLong("databases that the first assessment finds are listed as soon as they are counted", async () => {
  const server = await collected();
  const found = ["orders", "billing"].map((name, n) => ({
    id: `0199f0d2-7a10-7c44-9b0e-2f6f1e6c1b0${n}`,
    instanceId: server.id,
    name,
    createdAt: new Date().toISOString(),
    sizeBytes: null,
    sizeChange: null,
  }));
  let asked = 0;
  const page = await visit(`/instances/${server.id}`, {
    before: async (page) => {
      await page.route(`**/api/v1/instances/${server.id}`, answer({ ...server, databaseCount: 2 }));
      await page.route(`**/api/v1/instances/${server.id}/databases*`, (route) => {
        const items = asked++ === 0 ? [] : found;
        return route.fulfill({
          json: { items, page: { number: 1, size: 20, totalItems: items.length, totalPages: 1 } },
        });
      });
    },
  });
  await page.getByText("Loading databases").waitFor();
  await page.getByRole("cell", { name: "billing" }).waitFor();
  expect(await page.getByText("No databases yet").count()).toBe(0);
});

testLong("a tag leads to the servers that have it, in the list and on a phone", async () => {
  const page = await visit("/instances");
  await page
    .getByRole("row", { name: /demo-ora-dwh-01/ })
    .getByRole("link", { name: "team:analytics" })
    .click();
  await page.getByText("2 of 2 instances").waitFor();
  expect(new URL(page.url()).search).toBe("?tag=team:analytics");
  await page.getByRole("combobox", { name: "Tags", exact: true }).click();
  await page.getByRole("option", { name: "team:platform" }).click();
  await page.getByRole("link", { name: "demo-mssql-hr-01" }).waitFor();
  await page.goto("/instances?tag=team:analytics&tag=env:staging");
  await page.getByText("No instance matches").waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto("/instances?tag=team:payments");
  await page.getByRole("article").first().waitFor();
  expect(await sideways(page)).toBe(false);
});

test("tags are changed on a server's page, and what is no tag is refused", async () => {
  const id = (await listed("q=demo-mssql-erp-02"))[0]?.id as string;
  const page = await visit(`/instances/${id}`);
  await page.getByRole("button", { name: "Edit tags" }).click();
  const field = page.getByRole("dialog").getByLabel("Tags", { exact: true });
  await field.fill("Zone");
  await field.press("Enter");
  await page.getByText("is no tag").waitFor();
  await field.press("Backspace");
  await field.fill("zone:eu west");
  await field.press("Enter");
  await page.getByRole("button", { name: "Save" }).click();
  await page
    .getByRole("list", { name: /Tags of/ })
    .getByText("zone:eu west")
    .waitFor();
  expect(await violations(page)).toEqual([]);
});
