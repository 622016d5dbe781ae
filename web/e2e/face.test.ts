// A face for each instance: the list by trouble, and an instance's page.
import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import {
  adminSession,
  apiAs,
  apiBy,
  enter,
  requestsTo,
  serverUrl,
  testLong,
  thorough,
  unique,
  violations,
  visit,
  widths,
} from "./browser";
import { settled, sideways } from "./pages";
import { joined } from "./server";
import { allDrawn, tilePaths, titles } from "./trends";

type Health = {
  score: number | null;
  openAlerts: number;
  cpuPercent: number | null;
  diskPercent: number | null;
  scoreHistory: (number | null)[];
};
type Instance = { id: string; name: string; health: Health };

const read = async <T>(path: string): Promise<T> => (await apiAs("admin", "GET", path)).json() as Promise<T>;
const instances = async (query: string) => (await read<{ items: Instance[] }>(`/api/v1/instances?${query}`)).items;
const collected = async () => (await instances("q=demo-pg-muster-01"))[0] as Instance;

const answer = (body: unknown) => (route: Route) => route.fulfill({ json: body });

/** health is that of a server that was not assessed on one day. */
const health = {
  score: 72,
  grade: "C",
  domains: [
    { name: "Security", score: 61.2, failed: 4, passed: 9, notAssessed: 1 },
    { name: "Schema", score: null, failed: 0, passed: 0, notAssessed: 2 },
  ],
  assessedAt: "2026-11-20T06:00:00Z",
  history: [70, 71, null, 72].map((score, n) => ({ day: `2026-11-${17 + n}`, score })),
  settings: [],
  changes: [
    {
      at: "2026-11-20T06:00:00Z",
      kind: "setting",
      name: "work_mem",
      before: "4096 kB",
      after: "8192 kB",
      added: false,
      removed: false,
    },
    {
      at: "2026-11-20T06:00:00Z",
      kind: "setting",
      name: "archive_command",
      before: null,
      after: null,
      added: false,
      removed: false,
    },
    {
      at: "2026-11-19T06:00:00Z",
      kind: "role",
      name: "dana <b>",
      before: null,
      after: "LOGIN",
      added: true,
      removed: false,
    },
    { at: "2026-11-18T06:00:00Z", kind: "hba", name: null, before: null, after: null, added: false, removed: true },
  ],
};

/** hear keeps the lists that a page is told at a path, each under what its address comes to. */
function hear<T>(page: Page, path: string, told: Map<string, T[]>, key: (url: URL) => string) {
  page.on("response", async (response) => {
    const url = new URL(response.url());
    if (url.pathname !== path || response.status() !== 200) return;
    told.set(key(url), ((await response.json()) as { items: T[] }).items);
  });
}

test("the list is sorted by trouble, in the address, and says what is not known", async () => {
  // Held against its own answers: servers and their figures are others a moment later.
  const told = new Map<string, Instance[]>();
  const page = await visit("/instances", {
    before: async (page) => hear(page, "/api/v1/instances", told, (url) => url.searchParams.get("sort") ?? ""),
  });
  const names = () => page.locator("tbody tr td:nth-child(2) a[href^='/instances/']").allTextContents();
  const asTold = (sort: string, shown: () => Promise<string[]>) =>
    expect
      .poll(async () => ({ shown: await shown(), told: told.get(sort)?.map((i) => i.name) }))
      .toSatisfy(({ shown, told }) => told?.join() === shown.join());
  await page.getByRole("button", { name: "Alerts", exact: true }).click();
  await page.waitForURL(/sort=-alerts/);
  await asTold("-alerts", names);
  expect(await page.getByRole("columnheader", { name: "Alerts" }).getAttribute("aria-sort")).toBe("descending");
  await page.getByRole("button", { name: "Score", exact: true }).click();
  await page.waitForURL(/sort=score/);
  await asTold("score", names);
  await page.locator("[data-score-line]").first().waitFor();
  const scored = told.get("score") as Instance[];
  expect(scored[0]?.health.score).toBeTypeOf("number");
  expect(scored.at(-1)?.health.score).toBeNull();
  await page.locator("tbody tr").last().getByText("not known").first().waitFor({ state: "attached" });
  await page.goBack();
  await asTold("-alerts", names);
  expect(await violations(page)).toEqual([]);
  // What the watch keeps has a column only while the list is sorted by it.
  for (const [sort, head] of [
    ["-lag", "Lag"],
    ["-backup", "Backup age"],
    ["full", "Full in"],
  ] as const) {
    expect(await page.getByRole("columnheader", { name: head }).count()).toBe(0);
    await page.getByRole("combobox", { name: "Order" }).selectOption(sort);
    await page.waitForURL((url) => url.searchParams.get("sort") === sort);
    await asTold(sort, names);
    const column = page.getByRole("columnheader", { name: head });
    expect(await column.getAttribute("aria-sort")).toBe(sort.startsWith("-") ? "descending" : "ascending");
  }
  expect(await violations(page)).toEqual([]);

  await page.setViewportSize({ width: 360, height: 800 });
  const cards = page.getByRole("article");
  await page.getByRole("combobox", { name: "Order" }).selectOption("-disk");
  await page.waitForURL(/sort=-disk/);
  await asTold("-disk", () => cards.locator("a[href^='/instances/']").allTextContents());
  await expect
    .poll(async () => ({ shown: await cards.first().textContent(), told: told.get("-disk")?.[0]?.health.diskPercent }))
    .toSatisfy(({ shown, told }) => new RegExp(`Disk[^%]*${Math.round(told ?? -1)} %`).test(shown ?? ""));
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
});

test.each(widths(1280))("the page of an instance, %i px", async (width) => {
  const { id, name } = (await instances("q=demo-pg-orders-01"))[0] as Instance;
  let heard: URL[] = [];
  const page = await visit(`/instances/${id}`, {
    viewport: { width, height: 900 },
    before: async (page) => {
      heard = requestsTo(page, "/api/v1/");
      await page.route(`**/api/v1/instances/${id}/health`, answer(health));
    },
  });
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.locator("[data-score]").getByText("72").waitFor();
  await page.getByRole("figure", { name: "Score by day" }).waitFor();
  await allDrawn(page);
  const windows = titles.map((title) => {
    const query = heard.findLast(
      (url) => url.pathname === tilePaths[title] && url.searchParams.get("instanceId") === id,
    )?.searchParams;
    return ["from", "to", "bucketSize"].map((part) => query?.get(part)).join(" ");
  });
  expect(windows[0], "the trends have one time axis").toMatch(/^20.*Z 20.*Z 1[mhd]$/);
  expect(new Set(windows).size, "the trends have one time axis").toBe(1);
  for (const title of [
    "Open alerts",
    "Worst findings",
    "Top statements",
    "Recent changes",
    "Last reports",
    "Databases",
  ]) {
    await page.getByRole("heading", { level: 2, name: title }).waitFor();
  }
  const row = (kind: string, nth = 0) => page.locator(`[data-change=${kind}]`).nth(nth);
  await expect.poll(() => row("setting").textContent()).toMatch(/work_mem[\s\S]*4096 kB[\s\S]*8192 kB/);
  expect(await row("setting", 1).textContent()).toContain("not shown, may hold a secret");
  expect(await row("role").textContent()).toMatch(/dana <b>[\s\S]*not there[\s\S]*LOGIN/);
  expect(await row("hba").textContent()).toMatch(/no longer kept[\s\S]*removed/);
  await settled(page);
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
});

testLong("a real assessment has a score", async () => {
  const { id } = await collected();
  const page = await visit(`/instances/${id}`);
  const score = page.locator("[data-score]");
  await score.waitFor();
  // Other tests have it assessed meanwhile, and the page looks again every 30 s.
  const shown = async () => {
    const health = await read<{ score: number }>(`/api/v1/instances/${id}/health`);
    return score.getByText(`${health.score}`, { exact: true }).count();
  };
  await expect.poll(shown, { timeout: 40_000 }).toBe(1);
});

test("the parts that cannot be measured are named, with the server's code and since when", async () => {
  const { id } = await collected();
  const failing = (part: string, database: string | null, code: string, sentence: string) => ({
    part,
    database,
    code,
    sentence,
    at: "2026-11-20T11:00:00Z",
    since: "2026-11-20T10:00:00Z",
  });
  const lastErrors = [
    failing("sessions", null, "error 976", "A database is on a secondary replica that accepts no readers."),
    failing("statements", "a]b'c <b>", "timeout", "The server did not answer in time."),
  ];
  const page = await visit(`/instances/${id}`, {
    viewport: { width: 360, height: 900 },
    before: (page) =>
      page.route(`**/api/v1/instances/${id}`, async (route) => {
        const response = await route.fetch();
        const instance = (await response.json()) as { parts: { part: string; state: string }[] };
        const parts = instance.parts.map((p) => (p.part === "sessions" ? { ...p, state: "failed" } : p));
        await route.fulfill({ response, json: { ...instance, status: "up", parts, lastErrors } });
      }),
  });
  const head = page.locator('[data-status="up"]');
  await head.locator('[data-part="sessions"][data-state="failed"]').waitFor();
  await head.getByText(/^sessions: A database is on a secondary replica .* \(error 976\) First failed /).waitFor();
  await head.getByText(/^statements of a\]b'c <b>: The server did not answer in time\. First failed /).waitFor();
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
});

test("the window is in the address, and a click leads to who is behind a figure", async () => {
  const measured = (await instances("pageSize=100")).find(({ health }) => health.cpuPercent !== null);
  const { id } = measured as Instance;
  const page = await visit(`/instances/${id}`);
  const asked = requestsTo(page, "/api/v1/metrics/utilization");
  await page.getByRole("combobox", { name: "Window of the trends" }).selectOption("7d");
  await page.waitForURL(/range=7d/);
  // The commit that asks for the other window has removed the chart of the one before.
  const span = () => {
    const [from, to] = ["from", "to"].map((name) => Date.parse(asked.at(-1)?.searchParams.get(name) ?? ""));
    return Number(to) - Number(from);
  };
  await expect.poll(span).toBe(7 * 86_400_000);
  expect(asked.at(-1)?.searchParams.getAll("instanceId")).toEqual([id]);
  await page.getByRole("figure", { name: "Utilization" }).locator("[data-ready], canvas").first().waitFor();
  await page.getByRole("slider", { name: "Utilization, bucket" }).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname === "/" && url.searchParams.get("who") === "cpu");
  expect(new URL(page.url()).searchParams.getAll("instanceId")).toEqual([id]);
});

testLong("never assessed, and for whoever may not read findings", async () => {
  const unassessed = (await instances("q=demo-pg-retired-01"))[0] as Instance;
  const page = await visit(`/instances/${unassessed.id}`);
  await page.getByText("No score yet").waitFor();
  await page.getByText("Muster compares what it finds from the second assessment on.").waitFor();
  const viewer = await visit(`/instances/${unassessed.id}`, { as: "viewer" });
  await viewer.getByRole("heading", { level: 2, name: "Open alerts" }).waitFor();
  expect(await viewer.getByRole("heading", { level: 2, name: "Score", exact: true }).count()).toBe(0);
});

type Statement = { id: string; text: string | null; calls: number; share: number | null };

test("top statements and last reports are those of this server, the former in the window of its charts", async () => {
  const [{ id }, other] = (await instances("q=demo-pg-orders")) as [Instance, Instance];
  const report = async (instance: string) => {
    const body = { kind: "DataInventory", scope: { instanceIds: [instance] }, recipientIds: [] };
    const answered = await apiAs("member", "POST", "/api/v1/reports", body);
    return ((await answered.json()) as { report: { id: string } }).report.id;
  };
  const [ours, theirs] = [await report(id), await report(other.id)];
  let asked: URL[] = [];
  // Held against its own answers: a minute later there are others.
  const told = new Map<string, Statement[]>();
  const page = await visit(`/instances/${id}?range=1h`, {
    before: async (page) => {
      asked = requestsTo(page, "/api/v1/statements");
      hear(page, "/api/v1/statements", told, (url) => url.search);
    },
  });
  const rows = page.locator("[data-statement]");
  const ids = () => rows.evaluateAll((all) => all.map((row) => row.getAttribute("data-statement")));
  const asTold = async () => {
    await expect
      .poll(async () => ({ shown: await ids(), told: told.get(asked.at(-1)?.search ?? "")?.map((s) => s.id) }))
      .toSatisfy(({ shown, told }) => shown.length > 0 && told?.join() === shown.join());
    return told.get(asked.at(-1)?.search ?? "") ?? [];
  };
  const hour = await asTold();
  expect(hour.length).toBe(5);
  const first = await rows.first().textContent();
  expect(first).toContain(hour[0]?.text?.trim().split("\n")[0]);
  expect(first).toContain(`${Math.round(hour[0]?.calls ?? 0).toLocaleString("en-GB")}calls`);
  expect(first).toContain("% of its time");
  await page.locator(`[data-report="${ours}"]`).getByText("Data inventory").waitFor();
  expect(await page.locator(`[data-report="${theirs}"]`).count()).toBe(0);

  await page.getByRole("combobox", { name: "Window of the trends" }).selectOption("7d");
  await page.waitForURL(/range=7d/);
  const bound = (name: string) => Date.parse(`${asked.at(-1)?.searchParams.get(name)}`);
  await expect.poll(() => bound("to") - bound("from")).toBe(7 * 86_400_000);
  expect(asked.at(-1)?.searchParams.getAll("instanceId")).toEqual([id]);
  const week = await asTold();
  const all = page.getByRole("link", { name: "All statements of this server" });
  const list = new URL((await all.getAttribute("href")) ?? "", "http://x");
  expect([list.pathname, list.searchParams.get("range"), list.searchParams.get("instanceId")]).toEqual([
    "/statements",
    "7d",
    id,
  ]);
  await rows.first().getByRole("link").click();
  await page.waitForURL(new RegExp(`/statements/${week[0]?.id}`));
});

testLong("databases have a size and what it changed by; a server that tells of no statements says so", async () => {
  const { id } = await collected();
  const since = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const database = (name: string, sizeBytes: number, sizeChange: unknown) => ({
    id: crypto.randomUUID(),
    instanceId: id,
    name,
    createdAt: since(100),
    sizeBytes,
    sizeChange,
  });
  const numbers = { number: 1, size: 20, totalPages: 1 };
  let [grown, kept] = [9.1 * 2 ** 30, true];
  const page = await visit(`/instances/${id}`, {
    expected: [/422/],
    before: async (page) => {
      await page.route(`**/api/v1/instances/${id}/databases*`, (route) => {
        const items = [
          database("orders", 812 * 2 ** 30, { bytes: grown, since: since(29.9) }),
          database("archive", 448 * 2 ** 30, { bytes: -3 * 2 ** 20, since: since(5) }),
          database("fresh", 8 * 2 ** 20, null),
        ];
        return route.fulfill({ json: { items, page: { ...numbers, totalItems: 3 } } });
      });
      await page.route("**/api/v1/statements?*", (route) => {
        const none = {
          items: [],
          page: { ...numbers, totalItems: 0 },
          engines: [],
          partialEngines: [],
          incomplete: false,
        };
        const [from, to, previousFrom] = [since(1), since(0), null];
        const errors = [{ code: "detail_not_kept", params: { since: "2026-11-01T12:00:00Z" } }];
        return kept
          ? route.fulfill({ json: { ...none, from, to, previousFrom } })
          : route.fulfill({
              status: 422,
              contentType: "application/problem+json",
              json: { status: 422, code: "detail_not_kept", title: "Not kept", errors },
            });
      });
    },
  });
  const row = (name: string) => page.getByRole("row", { name: new RegExp(`^${name}`) });
  await expect.poll(() => row("orders").textContent()).toMatch(/^orders812 GB\+9\.1 GB\d/);
  expect(await row("archive").textContent()).toContain("448 GB−3.0 MBin 5 days");
  expect(await row("fresh").textContent()).toContain("8.0 MB–not known");
  await page.getByText("none was executed, or this server does not tell of them").waitFor();
  await page.getByText("PostgreSQL needs the extension pg_stat_statements").waitFor();
  [grown, kept] = [0, false];
  await page.reload();
  await expect.poll(() => row("orders").textContent()).toMatch(/^orders812 GBunchanged/);
  await page.getByText(/Single statements are kept since 1 Nov/).waitFor();
});

test.each(widths(1320))("a server's page begins with state, load and statements, %i px", async (width) => {
  const { id } = (await instances("q=demo-pg-orders-01"))[0] as Instance;
  const page = await visit(`/instances/${id}`, { viewport: { width, height: 900 } });
  await page.getByRole("heading", { name: "Databases" }).waitFor();
  await settled(page);
  const top = (name: string) =>
    page.getByRole("heading", { name, exact: true }).evaluate((h) => h.getBoundingClientRect().top + window.scrollY);
  const state = await page.getByText("Reachable").evaluate((h) => h.getBoundingClientRect().top + window.scrollY);
  const [load, statements] = [await top("Load"), await top("Top statements")];
  expect(state).toBeLessThan(load);
  expect(load).toBeLessThan(statements);
  const facts = page.locator("[data-status] dl");
  expect(await facts.locator("dt").allTextContents()).toEqual(
    expect.arrayContaining(["Reachable", "Measured", "Assessed"]),
  );
  type Since = { statusSince: string | null; lastAssessedAt: string | null };
  const since = await read<Since>(`/api/v1/instances/${id}`);
  for (const at of [since.statusSince, since.lastAssessedAt]) {
    expect(at).not.toBeNull();
    await facts.locator(`time[datetime="${at}"]`).first().waitFor();
  }
  for (const rest of ["Score", "Trends", "Recent changes", "Last reports", "Databases"]) {
    expect(await top(rest), rest).toBeGreaterThan(statements);
  }
  // The load is in sight without scrolling.
  expect(load).toBeLessThan(900);
});

test("each role sees the panels that it may, and none that it may not", async () => {
  const [{ id: sees }] = (await instances("q=demo-pg-orders-01")) as [Instance];
  const session = await joined(serverUrl, adminSession, { email: "tom@example.org", name: "Tom Team", role: "team" });
  const me = (await (await apiBy(session, "GET", "/api/v1/session")).json()) as { member: { id: string } };
  const selector = { instanceIds: [sees] };
  const body = { name: unique("Watch"), selector, members: [{ memberId: me.member.id, role: "viewer" }] };
  const { id: team } = (await (await apiAs("admin", "POST", "/api/v1/teams", body)).json()) as { id: string };
  try {
    // Administrators open this page in many tests, and the console complains to them of what is refused.
    const roles = ["viewer", "member", "team", "auditor", ...(thorough ? (["admin"] as const) : [])] as const;
    for (const role of roles) {
      const refused: string[] = [];
      const page = await visit(`/instances/${sees}`, {
        as: role === "team" ? null : role,
        before: async (page) => {
          if (role === "team") await enter(page.context(), serverUrl, session);
          page.on("response", (answer) => {
            const { pathname } = new URL(answer.url());
            if (answer.status() >= 400) refused.push(`${answer.status()} ${pathname}`);
          });
        },
      });
      await page.getByRole("heading", { name: "Databases" }).waitFor();
      await settled(page);
      expect(refused, role).toEqual([]);
      const findings = await page.getByRole("heading", { name: "Worst findings" }).count();
      expect(findings, role).toBe(role === "viewer" || role === "team" ? 0 : 1);
      expect(await page.getByRole("heading", { name: "Open alerts" }).count(), role).toBe(1);
    }
  } finally {
    await apiAs("admin", "DELETE", `/api/v1/teams/${team}`);
  }
});
