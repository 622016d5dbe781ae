// What fails on the fleet: the list, one finding, and the catalogue of checks.
import { readFile } from "node:fs/promises";
import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { apiAs, requestsTo, testLong, violations, visit, widths } from "./browser";
import { entangled, settled, sideways } from "./pages";

type Finding = {
  id: string;
  check: { id: string; title: string; severity: string };
  instance: { id: string; name: string };
  database: { id: string; name: string } | null;
  object: string | null;
  lastSeenAt: string;
  remediation: { statement: string | null; rollback: string | null; verify: string | null };
};
type FindingPage = { items: Finding[]; page: { totalItems: number } };

const read = async <T>(path: string): Promise<T> => (await apiAs("member", "GET", path)).json() as Promise<T>;
const findings = (query: string) => read<FindingPage>(`/api/v1/findings?${query}`);

/** total is what the pager says: "1–20 of 57 findings". */
async function total(page: Page): Promise<number> {
  const text = await page.getByText(/of [\d,]+ findings$/).textContent();
  return Number(text?.replace(/.* of ([\d,]+) findings/, "$1").replaceAll(",", ""));
}

const rows = (page: Page) =>
  page.locator("[data-finding]").evaluateAll((all) => all.map((row) => row.getAttribute("data-finding")));

test("filters, search and order live in the address and survive a reload", async () => {
  const page = await visit("/findings?group=none&page=2", { as: "member" });
  await expect.poll(() => total(page)).toBe((await findings("")).page.totalItems);
  await page.getByRole("group", { name: "Severity" }).getByText("High", { exact: true }).click();
  await page.waitForURL(/severity=High/);
  expect(page.url(), "a changed filter begins at page 1").not.toMatch(/[?&]page=/);
  await page.getByRole("group", { name: "Domain" }).getByText("Security", { exact: true }).click();
  await page.waitForURL(/domain=Security/);
  await page.getByRole("button", { name: "Open for" }).click();
  await page.waitForURL(/sort=firstSeenAt/);
  await page.locator("[data-search]").fill("demo");
  await page.waitForURL(/q=demo/);
  await page.getByRole("group", { name: "Status" }).getByText("Accepted", { exact: true }).click();
  await page.waitForURL(/status=open&status=accepted/);

  const asked = requestsTo(page, "/api/v1/findings");
  await page.reload();
  const query = "severity=High&domain=Security&sort=firstSeenAt&q=demo&status=open&status=accepted";
  const wanted = await findings(query);
  expect(wanted.page.totalItems).toBeGreaterThan(0);
  await expect.poll(() => rows(page)).toEqual(wanted.items.map((f) => f.id));
  expect([...(asked[0] as URL).searchParams].sort()).toEqual(
    [...new URLSearchParams(`${query}&page=1&pageSize=20`)].sort(),
  );
  expect(await page.getByRole("columnheader", { name: "Open for" }).getAttribute("aria-sort")).toBe("ascending");
  expect(await page.getByRole("checkbox", { name: "High" }).isChecked()).toBe(true);
  expect(await page.getByRole("checkbox", { name: "Low" }).isChecked()).toBe(false);

  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("?sort=firstSeenAt");
  await page.goBack();
  await page.waitForURL(/severity=High/);
});

test("a finding says what mends it, and hands it out as it stands", async () => {
  const fixable = (await findings("pageSize=200")).items.find((f) => f.remediation.rollback && f.remediation.verify);
  if (!fixable) throw new Error("no finding of the demo has a fix and its way back");
  const page = await visit(`/findings?checkId=${fixable.check.id}&sort=instance`, {
    as: "member",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const address = page.url();
  await page.locator(`[data-finding="${fixable.id}"] a[href^="/findings/"]`).click();
  await page.getByRole("heading", { level: 1, name: fixable.check.title }).waitFor();
  for (const [label, text] of [
    ["Fix", fixable.remediation.statement],
    ["Check: no row is returned once it is fixed", fixable.remediation.verify],
    ["Undo: restore the measured value", fixable.remediation.rollback],
  ] as const) {
    await page.getByRole("button", { name: `Copy: ${label}` }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);
  }
  // All in one: fix and check as they are, what takes the fix back as a comment.
  await page.getByRole("button", { name: "Copy all as one script" }).click();
  const { statement, verify, rollback } = fixable.remediation;
  const script = await page.evaluate(() => navigator.clipboard.readText());
  const [head, fix, check, undo] = script.split("\n\n");
  expect(head).toMatch(new RegExp(`^-- ${fixable.check.id}: `));
  expect(fix).toContain(`-- Fix\n${statement?.replace(/;$/, "")};`);
  expect(check).toBe(`-- Check: no row is returned once it is fixed\n${verify?.replace(/;$/, "")};`);
  const lines = (undo ?? "").trim().split("\n");
  expect(lines.every((line) => line.startsWith("--"))).toBe(true);
  expect(
    lines
      .slice(1)
      .map((line) => line.replace(/^-- ?/, ""))
      .join("\n"),
  ).toBe(`${rollback?.replace(/;$/, "")};`);
  expect(await page.getByRole("link", { name: /opens in a new tab/ }).count()).toBeGreaterThan(0);
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Findings" }).click();
  await expect.poll(() => page.url()).toBe(address);
});

test("an exception is asked for from the finding, about this object and no other", async () => {
  const chosen = (await findings("q=public&pageSize=200")).items.find((f) => f.object && f.database);
  if (!chosen) throw new Error("the demo has no finding in a database");
  const page = await visit(`/findings/${chosen.id}`, { as: "member" });
  await page.getByRole("button", { name: "Request an exception" }).click();
  const form = page.getByRole("dialog", { name: "Request an exception" });
  expect(await form.getByLabel("Check").inputValue()).toBe(chosen.check.id);
  expect(await form.getByLabel("Object (optional)").inputValue()).toBe(chosen.object);
  await expect
    .poll(() => form.getByRole("combobox", { name: "Instance (optional)" }).inputValue())
    .toContain(chosen.instance.name);
  await form.getByLabel("Reason").fill("Asked for from a finding.");
  await form.getByRole("button", { name: "Ask" }).click();
  await form.waitFor({ state: "hidden" });
  const requested = async () => {
    const path = `/api/v1/exceptions?checkId=${chosen.check.id}&status=requested`;
    const { items } = await read<{ items: Record<string, unknown>[] }>(path);
    return items.filter((x) => x.reason === "Asked for from a finding.");
  };
  await expect.poll(requested).toMatchObject([
    {
      checkId: chosen.check.id,
      instanceId: chosen.instance.id,
      databaseId: chosen.database?.id,
      objectRef: chosen.object,
    },
  ]);
});

testLong("an administrator has the instance assessed again from the finding", async () => {
  const [first] = (await findings("pageSize=1&q=demo-pg-muster-01")).items as [Finding]; // the others are fed
  const page = await visit(`/findings/${first.id}`);
  await page.getByRole("button", { name: "Assess now" }).click();
  await page.getByText(`${first.instance.name} was assessed.`).first().waitFor({ timeout: 40_000 });
  const seen = page.locator("dl > div").filter({ hasText: "Last seen" }).locator("time");
  await expect
    .poll(async () => Date.parse((await seen.getAttribute("datetime")) ?? ""))
    .toBeGreaterThan(Date.parse(first.lastSeenAt));
  const member = await visit(`/findings/${first.id}`, { as: "member" });
  await member.getByRole("button", { name: "Request an exception" }).waitFor();
  expect(await member.getByRole("button", { name: "Assess now" }).count()).toBe(0);
});

test("viewers see the catalogue and no findings", async () => {
  const page = await visit("/findings", { as: "viewer" });
  await page.getByText("403: your role does not include this page").waitFor();
  const nav = page.getByRole("navigation", { name: "Main" });
  await nav.getByRole("link", { name: "Findings" }).click(); // leads to the first of its pages that they may see
  await page.waitForURL(/\/checks$/);
  expect(await page.getByRole("navigation", { name: "Findings" }).getByRole("link", { name: "Findings" }).count()).toBe(
    0,
  );
  await page.locator("[data-search]").fill("pg_stat_statements");
  await page.waitForURL(/q=pg_stat/);
  await page.getByRole("link", { name: "Query statistics are not collected" }).click();
  await page.getByRole("heading", { name: "Why it matters" }).waitFor();
  expect(await page.getByRole("link", { name: "Current findings" }).count()).toBe(0);
});

const long = `\u202Eevil\u202C <img src=x onerror=alert(1)> ${"public.very_long_name_".repeat(40)}`;
const hostile = (changes: Record<string, unknown>) => ({
  id: crypto.randomUUID(),
  check: {
    id: "PG-S17",
    title: "PUBLIC may create objects in a schema",
    domain: "Security",
    severity: "High",
    references: [],
  },
  instance: { id: crypto.randomUUID(), name: long.slice(0, 200) },
  database: { id: null, name: long.slice(0, 60) },
  object: long,
  evidence: long,
  measured: long,
  threshold: "no schema with CREATE for PUBLIC",
  status: "open",
  reason: null,
  firstSeenAt: "2026-07-17T03:12:00Z",
  lastSeenAt: "2026-11-20T11:37:42Z",
  passedSince: null,
  reopenedAt: "2026-07-17T03:12:00Z",
  earlier: { firstSeenAt: "2026-05-01T03:12:00Z", closedAt: "2026-07-01T03:12:00Z" },
  dueAt: "2026-08-16T03:12:00Z",
  overdueDays: 97,
  assigneeId: crypto.randomUUID(),
  assigneeName: long.slice(0, 200),
  ticketUrl: `https://tickets.example.org/${"DBA-112".repeat(80)}`,
  exceptionId: null,
  acceptedUntil: null,
  remediation: {
    summary: long,
    statement: long,
    impact: null,
    needsRestart: true,
    rollback: null,
    verify: long,
    runIn: "app",
  },
  ...changes,
});

test("each state is told apart, and what a server made up is text", async () => {
  const exceptionId = crypto.randomUUID();
  const items = [
    hostile({}),
    hostile({ status: "accepted", reason: "until the move", exceptionId, acceptedUntil: "2027-03-31T12:00:00Z" }),
    hostile({ status: "notAssessed", object: null, evidence: null, measured: null, reason: long, remediation: null }),
    hostile({ status: "passed", passedSince: "2026-11-21T00:00:00Z" }),
    hostile({ status: "unheard of", check: { ...hostile({}).check, severity: "Unheard" } }),
  ];
  const page = await visit("/findings?group=none", {
    as: "member",
    expected: [/status of 404/],
    before: async (p) => {
      await p.route("**/api/v1/findings?*", (route: Route) =>
        route.fulfill({ json: { items, page: { number: 1, size: 20, totalItems: items.length, totalPages: 1 } } }),
      );
      for (const item of items)
        await p.route(`**/api/v1/findings/${item.id}`, (route: Route) => route.fulfill({ json: item }));
      await p.route(`**/api/v1/exceptions/${exceptionId}`, (route: Route) =>
        route.fulfill({
          json: {
            id: exceptionId,
            status: "granted",
            requestedBy: { id: crypto.randomUUID(), name: "Ana Ruiz" },
            decidedBy: { id: crypto.randomUUID(), name: "Noor Haddad" },
            decidedAt: "2026-11-20T12:00:00Z",
          },
        }),
      );
    },
  });
  for (const word of ["Open", "Accepted", "Not assessed", "Passes", "unheard of"]) {
    await page.getByRole("row").getByText(word, { exact: true }).first().waitFor();
  }
  await page.getByRole("row").getByText("until 31 Mar 2027").waitFor();
  const said = [/^Evidence$/, "until the move", /^Reason$/, "Passes since", "unheard of"];
  for (const [n, item] of items.entries()) {
    await page.goto(`/findings/${item.id}`);
    await page
      .getByText(said[n] as string | RegExp)
      .first()
      .waitFor();
    await settled(page);
    if (item.status === "accepted") {
      for (const word of ["Until", "31 Mar 2027", "Ana Ruiz", "Noor Haddad"]) {
        await page.locator("dl").getByText(word).first().waitFor();
      }
    }
    for (const [name, value] of [
      ["First found", "1 May 2026"],
      ["Closed on", "1 Jul 2026"],
      ["Came back on", "17 Jul 2026"],
    ] as const) {
      await page.locator("dl > div").filter({ hasText: name }).getByText(value).waitFor();
    }
    if (item.status === "open" || item.status === "notAssessed") expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await sideways(page), `${item.status} scrolls sideways at 360 px`).toBe(false);
    expect(await entangled(page)).toEqual([]);
    await page.setViewportSize({ width: 1320, height: 900 });
  }
  expect(await page.locator("article img").count()).toBe(0);
  await page.goto("/findings?group=none");
  await page.setViewportSize({ width: 360, height: 800 });
  await page.locator("[data-finding]").first().waitFor();
  expect(await sideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
});

test.each(widths(1320))(
  "assignee and ticket are set in the list and on the page of a finding, %i px",
  async (width) => {
    const [found] = (await findings(`overdue=true&sort=dueAt&pageSize=1&page=${width === 360 ? 2 : 1}`)).items;
    if (!found) throw new Error("the demo has no overdue finding");
    const page = await visit(`/findings?overdue=true&sort=dueAt&checkId=${found.check.id}&pageSize=200`, {
      as: "member",
      viewport: { width, height: 800 },
    });
    const row = page.locator(`[data-finding="${found.id}"]`);
    await row.getByText(/ days? overdue$/).waitFor();
    await row.getByRole("button", { name: /^Change assignee and ticket/ }).click();
    const form = page.getByRole("dialog", { name: "Assignee and ticket" });
    expect(await violations(page)).toEqual([]);
    await form.getByRole("combobox", { name: "Assignee" }).click();
    const me = (await read<{ member: { id: string; name: string } }>("/api/v1/session")).member;
    await page.getByRole("option", { name: me.name }).click();
    await form.getByLabel("Ticket").fill("javascript:alert(1)");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Begin with https:// or http://.").waitFor();
    await form.getByLabel("Ticket").fill("https://tickets.example.org/browse/DBA-112");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "hidden" });
    const ticket = row.getByRole("link", { name: "DBA-112 (opens in a new tab)" });
    expect(await ticket.getAttribute("href")).toBe("https://tickets.example.org/browse/DBA-112");
    expect(await ticket.getAttribute("rel")).toBe("noreferrer");
    expect(await sideways(page)).toBe(false);
    expect(await read(`/api/v1/findings/${found.id}`)).toMatchObject({ assigneeId: me.id, assigneeName: me.name });
    await row.getByText(me.name).waitFor();

    await page.goto(`/findings/${found.id}`);
    await page.locator("dl > div").filter({ hasText: "Assignee" }).getByText(me.name).waitFor();
    await page.getByRole("button", { name: /^Change assignee and ticket/ }).click();
    await form.getByRole("combobox", { name: "Assignee" }).click();
    await page.getByRole("option", { name: "Nobody" }).click();
    await form.getByLabel("Ticket").fill("");
    await form.getByRole("button", { name: "Save" }).click();
    await page.locator("dl > div").filter({ hasText: "Assignee" }).getByText("Nobody").waitFor();
    expect(await read(`/api/v1/findings/${found.id}`)).toMatchObject({ assigneeId: null, ticketUrl: null });
    expect(await sideways(page)).toBe(false);
  },
);

test("F10: what fails is grouped by check, and opens by keyboard to servers and objects", async () => {
  type Groups = { items: { check: { id: string; title: string }; findings: number }[] };
  const { items } = await read<Groups>("/api/v1/findings/groups?pageSize=20");
  const page = await visit("/findings", { as: "member" });
  const groups = page.locator("[data-group]");
  await expect
    .poll(() => groups.evaluateAll((all) => all.map((row) => row.getAttribute("data-group"))))
    .toEqual(items.map((g) => g.check.id));
  const check = groups.first();
  await check
    .getByText(/Open for \d/)
    .first()
    .waitFor();
  await check.getByRole("button", { expanded: false }).first().focus();
  await page.keyboard.press("Enter");
  const server = check.locator("[data-group]").first();
  await server.getByRole("button", { expanded: false }).first().focus();
  await page.keyboard.press("Space");
  await server.locator("[data-finding] a[href^='/findings/']").first().waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByText("Server", { exact: true }).click();
  await page.waitForURL(/group=instance/);
  await groups
    .first()
    .getByText(/checks?, \d+ findings?/)
    .waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page)).toBe(false);
  await page.getByText("Not grouped", { exact: true }).click();
  await page.waitForURL(/group=none/);
  await page.locator("[data-finding]").first().waitFor();
});

test("an auditor makes evidence of a check on its page, and a member cannot", async () => {
  const page = await visit("/checks/PG-S17", { as: "auditor" });
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download JSON" }).click(),
  ]);
  expect(saved.suggestedFilename()).toMatch(/^PG-S17-.+\.json$/);
  const made = JSON.parse(await readFile(await saved.path(), "utf8"));
  expect(made.evidence.check.id).toBe("PG-S17");
  expect(made.evidence.items.length).toBeGreaterThan(0);
  expect(made.signature).not.toBe("");
  const entries = await (await apiAs("auditor", "GET", "/api/v1/audit-events?type=evidenceMade")).json();
  expect(entries.items.map((e: { subjectId: string }) => e.subjectId)).toContain(made.evidence.id);
  expect(await violations(page)).toEqual([]);

  const member = await visit("/checks/PG-S17", { as: "member" });
  await member.getByRole("heading", { name: "Passes when" }).waitFor();
  expect(await member.getByRole("heading", { name: "Evidence" }).count()).toBe(0);
});

testLong("an auditor makes evidence of the control of backups, which the list of checks names", async () => {
  const page = await visit("/checks", { as: "auditor" });
  await page.getByRole("link", { name: "no backup is older than its recovery point objective" }).click();
  await page.waitForURL(/\/checks\/BACKUP-RPO/);
  await page.getByRole("heading", { name: "No backup of a database is older" }).waitFor();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download JSON" }).click(),
  ]);
  expect(saved.suggestedFilename()).toMatch(/^BACKUP-RPO-.+\.json$/);
  const made = JSON.parse(await readFile(await saved.path(), "utf8"));
  expect(made.evidence.check.id).toBe("BACKUP-RPO");
  expect(made.evidence.items.some((i: { backupDays?: { kept: number } }) => (i.backupDays?.kept ?? 0) > 0)).toBe(true);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page)).toBe(false);
});
