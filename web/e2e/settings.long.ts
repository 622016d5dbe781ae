// Members, tokens, settings, account, exceptions, audit.
import type { Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { apiAs, requestsTo, serverUrl, violations, visit } from "./browser";
import { password } from "./muster";

const refusedByServer = [/Failed to load resource/];
const unique = (what: string) => `${what}-${Date.now()}-${Math.floor(Math.random() * 1e6)}`;

type Member = { id: string; name: string; email: string; role: string; status: string; lastSignInAt: string | null };

const problem = (status: number, code: string, more: Record<string, unknown> = {}) => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({ type: "about:blank", title: code, status, code, requestId: "REQUEST1", ...more }),
});

const members = (items: Member[]) => (page: Page) =>
  page.route(/\/api\/v1\/members(\?|$)/, (route) =>
    route.fulfill({ json: { items, page: { number: 1, size: 20, totalItems: items.length, totalPages: 1 } } }),
  );

const member = (name: string, role: string, status = "active"): Member => ({
  id: `0199f0d2-7a10-7c44-9b0e-0000000000${name.length}${name.charCodeAt(0) % 10}`,
  name,
  email: `${name.toLowerCase()}@example.org`,
  role,
  status,
  lastSignInAt: null,
});

const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

test("38 a viewer sees no request and no controls of members, and is told why a page is not for them", async () => {
  const page = await visit("/settings/members", { as: "viewer" });
  await page.getByRole("cell", { name: "v***@example.org" }).waitFor();
  expect(await page.getByRole("button", { name: "Invite a member" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: /^Actions for/ }).count()).toBe(0);
  expect(await page.getByRole("cell", { name: "viewer@example.org" }).count()).toBe(0);
  expect(await page.getByRole("navigation", { name: "Settings" }).getByText("Audit").count()).toBe(0);
  await page.goto("/audit");
  await page.getByText("403: your role does not include this page").waitFor();
  await page.goto("/exceptions");
  await page.getByRole("table", { name: "Exceptions" }).waitFor();
  expect(await page.getByRole("button", { name: "Request an exception" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: /^(Grant|Refuse|Revoke)$/ }).count()).toBe(0);
  await page.goto("/reports");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByText("Security Report").first().waitFor();
  expect(
    await page
      .getByRole("main")
      .getByRole("link", { name: /^Request/ })
      .count(),
  ).toBe(0);
});

test("38 the last administrator is not offered to be demoted, and a refusal is explained on the row", async () => {
  const ada = member("Ada", "admin");
  const page = await visit("/settings/members", { before: members([ada, member("Boris", "member")]) });
  await page.getByRole("button", { name: "Actions for Boris" }).waitFor();
  await row(page, "Ada").getByText("Make someone else an administrator", { exact: false }).waitFor();
  expect(await page.getByRole("button", { name: "Actions for Ada" }).count()).toBe(0);

  const raced = await visit("/settings/members", {
    expected: refusedByServer,
    before: async (p) => {
      await members([ada, member("Carla", "admin")])(p);
      await p.route("**/api/v1/members/*", (route) =>
        route.fulfill(problem(409, "last_admin", { detail: "Make another member an administrator first." })),
      );
    },
  });
  await raced.getByRole("button", { name: "Actions for Ada" }).click();
  await raced.getByRole("menuitem", { name: "Change role…" }).click();
  await raced.getByRole("radio", { name: "Viewer" }).check();
  await raced.getByRole("button", { name: "Change role" }).click();
  await row(raced, "Ada")
    .getByRole("alert")
    .getByText("an organization needs an administrator", { exact: false })
    .waitFor();
});

test("38 a new token is shown once with Copy, later only prefix, scopes and last use", async () => {
  const name = unique("e2e-token");
  const page = await visit("/settings/tokens", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("button", { name: "New API token" }).click();
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByText("Choose at least one scope.").waitFor();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("checkbox", { name: "Read alerts" }).check();
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByText("This is shown only once").waitFor();
  await page.getByRole("button", { name: "Copy: Token" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^mst_pat_/);
  const token = await page.evaluate(() => navigator.clipboard.readText());
  expect(await page.getByRole("dialog").textContent()).toContain(token);
  const call = () => fetch(`${serverUrl}/api/v1/alerts`, { headers: { Authorization: `Bearer ${token}` } });
  expect((await call()).status).toBe(200);
  await page.getByRole("button", { name: "Done" }).click();

  await page.reload();
  await row(page, name).waitFor();
  const text = (await row(page, name).textContent()) ?? "";
  expect(text).toContain(`${token.slice(0, 12)}…`);
  expect(text).toContain("alerts:read");
  expect(text).toContain("127.0.0.1");
  expect(await page.content()).not.toContain(token);

  await page.getByRole("button", { name: `Revoke ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row(page, name).waitFor({ state: "detached" });
  expect((await call()).status).toBe(401);
});

test("an ingest token writes to the servers that were chosen, and is revoked", async () => {
  const name = unique("e2e-agent");
  const page = await visit("/settings/tokens");
  await page.getByRole("button", { name: "New ingest token" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("combobox", { name: "Instances (optional)" }).click();
  const first = page.getByRole("option").first();
  const server = (await first.textContent()) ?? "";
  await first.click();
  await page.keyboard.press("Escape"); // the list, not the dialog
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create token" }).click();
  await dialog.getByText(/^mst_ing_/).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await row(page, name).getByText(`1 instance: ${server}`).waitFor();
  await page.getByRole("button", { name: `Revoke ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row(page, name).waitFor({ state: "detached" });
});

test("a member is invited, their link is shown once, and they are erased by typing their address", async () => {
  const email = `${unique("e2e")}@example.org`;
  const page = await visit("/settings/members");
  await page.getByRole("button", { name: "Invite a member" }).click();
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Name").fill("Enno Erased");
  await page.getByRole("radio", { name: "Auditor" }).check();
  await page.getByRole("button", { name: "Invite", exact: true }).click();
  await page.getByText("Muster does not e-mail this link", { exact: false }).waitFor();
  expect(await page.getByRole("dialog").textContent()).toContain("/invitation#");
  await page.getByRole("button", { name: "Done" }).click();

  await page.getByLabel("Search members").fill(email);
  await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe(email);
  await row(page, email).getByText("Auditor").waitFor();
  await row(page, email).getByText("Invited").waitFor();
  await page.getByRole("button", { name: "Actions for Enno Erased" }).click();
  await page.getByRole("menuitem", { name: "Erase…" }).click();
  const erase = page.getByRole("button", { name: "Erase permanently" });
  expect(await erase.isDisabled()).toBe(true);
  await page.getByLabel(`Type ${email} to confirm`).fill(email);
  await erase.click();
  await page.getByText("No member matches").waitFor();
});

type Settings = { watch: { wraparoundPercent: number; lockWaitMinutes: number } };

async function change(body: unknown) {
  const answer = await fetch(`${serverUrl}/api/v1/organization`, {
    method: "PATCH",
    headers: {
      Cookie: `__Host-muster_session=${inject("server").sessions.admin}`,
      "Content-Type": "application/json",
      "If-Match": "*",
    },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
}

test("settings that somebody changed meanwhile are shown, and only one's own change is saved over them", async () => {
  const settings = async () => (await (await apiAs("admin", "GET", "/api/v1/organization")).json()) as Settings;
  const { watch: before } = await settings();
  const mine = before.wraparoundPercent === 81 ? 82 : 81;
  const theirs = before.lockWaitMinutes === 6 ? 7 : 6;
  try {
    const page = await visit("/settings/organization", { expected: refusedByServer });
    const field = page.getByLabel("Wraparound is near at");
    await field.fill("0");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Must be a whole number from 1 to 100.").waitFor();
    await field.fill(String(mine));
    await change({ watch: { lockWaitMinutes: theirs } });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Someone else changed the settings").waitFor();
    const differing = page.getByRole("table", { name: "Different settings" });
    await differing.getByRole("row").filter({ hasText: "Wraparound" }).getByText(`${mine} %`).waitFor();
    expect(await differing.getByRole("row").count()).toBe(2);
    await page.getByRole("button", { name: "Save my values" }).click();
    await page.getByText("Settings saved.").waitFor();
    const { watch: after } = await settings();
    expect(after).toMatchObject({ wraparoundPercent: mine, lockWaitMinutes: theirs });
  } finally {
    await change({
      watch: { wraparoundPercent: before.wraparoundPercent, lockWaitMinutes: before.lockWaitMinutes },
    });
  }
});

test("settings are read by those who may not change them", async () => {
  const page = await visit("/settings/organization", { as: "member" });
  await page.getByRole("rowheader", { name: /Reports are kept for/ }).waitFor();
  expect(await page.getByRole("main").getByRole("textbox").count()).toBe(0);
  expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
});

test("an exception is asked for by a member and granted by an administrator; the state filters live in the URL", async () => {
  const object = unique("e2e.nothing"); // no finding is called so: the demo's scores stay
  const asking = await visit("/exceptions", { as: "member", expected: refusedByServer });
  await asking.getByRole("button", { name: "Request an exception" }).click();
  await asking.getByLabel("Check").fill("PG-S99");
  await asking.getByLabel("Object (optional)").fill(object);
  await asking.getByLabel("Reason").fill("A test of the page.");
  await asking.getByRole("button", { name: "Ask", exact: true }).click();
  await asking.getByText("No such check is in the catalogue.").waitFor();
  await expect.poll(() => asking.getByLabel("Check").evaluate((input) => document.activeElement === input)).toBe(true);
  await asking.getByLabel("Check").fill("PG-S18");
  await asking.getByRole("button", { name: "Ask", exact: true }).click();
  await row(asking, object).getByText("Requested").waitFor();
  const { items } = (await (await apiAs("member", "GET", "/api/v1/exceptions?checkId=PG-S18")).json()) as {
    items: { checkTitle: string }[];
  };
  expect(items[0]?.checkTitle).toMatch(/\w+ \w+/);
  await row(asking, object)
    .getByText(items[0]?.checkTitle ?? "", { exact: true })
    .waitFor();

  const page = await visit("/exceptions?status=requested");
  await row(page, object).getByRole("button", { name: "Grant" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Grant" }).click();
  await row(page, object).waitFor({ state: "detached" }); // it is none of the requested any more
  await page.getByText("Requested", { exact: true }).first().click();
  await expect.poll(() => new URL(page.url()).search).toBe("");
  await page.getByText("Granted", { exact: true }).first().click();
  await expect.poll(() => new URL(page.url()).search).toBe("?status=granted");
  await row(page, object).getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row(page, object).waitFor({ state: "detached" });
}, 60_000);

test("one's sessions are listed, this one is marked, and another is ended", async () => {
  const agent = unique("muster-e2e");
  const other = await fetch(`${serverUrl}/api/v1/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "User-Agent": agent },
    body: JSON.stringify({ email: "viewer@example.org", password }),
  });
  expect(other.status).toBe(200);
  const page = await visit("/settings/account", { as: "viewer" });
  await page.getByText("This session").waitFor();
  await row(page, agent)
    .getByRole("button", { name: /^End the session/ })
    .click();
  await row(page, agent).waitFor({ state: "detached" });
  await page.getByText("This session").waitFor();
});

test("a wrong present password is said at its field, and ends no session", async () => {
  const page = await visit("/settings/account", {
    as: "viewer",
    expected: refusedByServer,
    before: (p) =>
      p.route("**/api/v1/password", (route) =>
        route.fulfill(
          problem(401, "invalid_credentials", {
            errors: [{ in: "body", pointer: "#/currentPassword", code: "invalid_credentials", detail: "is wrong" }],
          }),
        ),
      ),
  });
  await page.getByLabel("Current password", { exact: true }).fill("not-the-password");
  await page.getByLabel("New password", { exact: true }).fill("seven grey herons over Utrecht");
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Is wrong.").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await page.getByLabel("Current password", { exact: true }).getAttribute("aria-invalid")).toBe("true");
});

test("39 audit filters live in the URL", async () => {
  const page = await visit("/audit", { as: "auditor" });
  await page.getByRole("table", { name: "Audit list" }).waitFor();
  await page.getByRole("combobox", { name: "What" }).click();
  await page.getByRole("option", { name: "Signed in", exact: true }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("?type=signedIn");
  await page.keyboard.press("Escape");
  await page.getByLabel("From").fill("2026-01-01T00:00");
  await page.getByLabel("From").press("Enter");
  await expect.poll(() => new URL(page.url()).searchParams.get("from")).toBe("2026-01-01T00:00:00.000Z");
  const codes = page.getByRole("table", { name: "Audit list" }).locator("tbody tr");
  const types = () => codes.evaluateAll((rows) => [...new Set(rows.map((tr) => (tr as HTMLElement).dataset.type))]);
  await expect.poll(types).toEqual(["signedIn"]);

  const address = new URL(page.url());
  const asked: URL[] = [];
  const again = await visit(address.pathname + address.search, {
    as: "auditor",
    before: async (p) => {
      p.on("request", (request) => {
        const url = new URL(request.url());
        if (url.pathname === "/api/v1/audit-events") asked.push(url);
      });
    },
  });
  await again.getByRole("table", { name: "Audit list" }).waitFor();
  expect(asked[0]?.searchParams.getAll("type")).toEqual(["signedIn"]);
  expect(asked[0]?.searchParams.get("from")).toBe("2026-01-01T00:00:00.000Z");
  expect(await again.getByLabel("From").inputValue()).toBe("2026-01-01T00:00");
  await again.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => new URL(again.url()).search).toBe("");
}, 60_000);

test("39 older audit entries have an address of their own", async () => {
  const entry = (n: number) => ({
    at: `2026-11-20T11:00:${String(n).padStart(2, "0")}Z`,
    type: "signedIn",
    actor: { id: "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a02", name: `Ana ${n}` },
    subjectId: null,
    data: { ip: "192.0.2.7", requestId: "REQ", detail: "password" },
  });
  const page = await visit("/audit", {
    as: "auditor",
    before: (p) =>
      p.route("**/api/v1/audit-events?*", (route) => {
        const later = new URL(route.request().url()).searchParams.get("cursor") === "second";
        return route.fulfill({ json: { items: [entry(later ? 2 : 1)], nextCursor: later ? null : "second" } });
      }),
  });
  await page.getByRole("cell", { name: "Ana 1" }).waitFor();
  await page.getByText("192.0.2.7").waitFor();
  const asked = requestsTo(page, "/api/v1/audit-events");
  await page.getByRole("button", { name: "Older" }).click();
  await page.getByRole("cell", { name: "Ana 2" }).waitFor();
  expect(new URL(page.url()).search).toBe("?cursor=second");
  expect(asked).toHaveLength(1);
  expect(await page.getByRole("button", { name: "Older" }).count()).toBe(0);
  await page.goBack();
  await page.getByRole("cell", { name: "Ana 1" }).waitFor();
});

test("40 the dialogs of members and tokens have no violation of WCAG", async () => {
  const page = await visit("/settings/members");
  await page.getByRole("button", { name: "Invite a member" }).click();
  await page.getByRole("button", { name: "Invite", exact: true }).click();
  await page.getByText("Enter their name.").waitFor();
  expect(await violations(page), "invite").toEqual([]);
  await page.goto("/settings/tokens");
  await page.getByRole("button", { name: "New API token" }).click();
  await page.getByRole("checkbox", { name: "Read alerts" }).check();
  expect(await violations(page), "new token").toEqual([]);
});
