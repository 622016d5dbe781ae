// What is seen before anybody is signed in: sign-in, invitation, setup.
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { apiAs, violations, visit } from "./browser";
import { adminEmail, password } from "./muster";

const refusedByServer = [/Failed to load resource/];
const anonymous = { authenticated: false, setupRequired: false, providers: [], passwordLogin: true };

const problem = (status: number, code: string, more: Record<string, unknown> = {}) => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({ type: "about:blank", title: code, status, code, requestId: "REQUEST1", ...more }),
});

/** answering puts an answer in the place of the API's, for one method; the others go through. */
const answering =
  (path: string, method: string, answer: Parameters<import("playwright-core").Route["fulfill"]>[0]) => (page: Page) =>
    page.route(`**${path}`, (route) =>
      route.request().method() === method ? route.fulfill(answer) : route.fallback(),
    );

async function signIn(page: Page, email: string, secret: string) {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(secret);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

test("sign-in: a wrong password is refused in words, the right one opens what was asked for", async () => {
  const page = await visit("/settings/members?q=vera", { as: null, expected: refusedByServer });
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  expect(await page.evaluate(() => document.activeElement?.getAttribute("type"))).toBe("email");
  await signIn(page, `nobody-${Date.now()}@example.org`, "not-the-password");
  await page.getByRole("alert").getByText("Wrong address or password").waitFor();
  await signIn(page, adminEmail, password);
  await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  expect(new URL(page.url()).search).toBe("?q=vera");
  await page.getByRole("cell", { name: "viewer@example.org" }).waitFor();
});

test("sign-in: nothing is sent without address and password, and the first that lacks has the focus", async () => {
  const page = await visit("/", { as: null });
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  const email = page.getByLabel("E-mail address");
  await page.getByText("Enter your e-mail address.").waitFor();
  expect(await email.getAttribute("aria-invalid")).toBe("true");
  expect(await email.evaluate((input) => document.activeElement === input)).toBe(true);
});

test("sign-in: too many failures say how long to wait", async () => {
  const page = await visit("/", {
    as: null,
    expected: refusedByServer,
    before: answering("/api/v1/session", "POST", {
      ...problem(429, "login_throttled", { detail: "Too many failed sign-ins; try again in 30s." }),
      headers: { "Retry-After": "30" },
    }),
  });
  await signIn(page, "ana@example.org", "whatever it may be");
  await page.getByRole("alert").getByText("Try again in 30 seconds.").waitFor();
});

test("sign-in: a browser that keeps no session is told so", async () => {
  const page = await visit("/", {
    as: null,
    before: answering("/api/v1/session", "POST", { json: { ...anonymous, authenticated: true } }),
  });
  await signIn(page, "ana@example.org", "whatever it may be");
  await page.getByText("the browser did not keep the session").waitFor();
  await page.getByText("https://", { exact: false }).waitFor();
});

test("sign-in: why the identity provider refused is said, and taken out of the address", async () => {
  const page = await visit("/alerts?range=7d&signIn=failed&reason=denied", { as: null });
  await page.getByRole("alert").getByText("The sign-in was cancelled at the identity provider.").waitFor();
  expect(new URL(page.url()).search).toBe("?range=7d");
  await page.goto("/?signIn=failed&reason=%3Cscript%3E");
  await page.getByRole("alert").getByText("The sign-in failed. Start again.").waitFor();
  expect(new URL(page.url()).search).toBe("");
});

test("sign-in: whoever is signed in all the same is not bothered with a refusal", async () => {
  const page = await visit("/settings/members?signIn=failed&reason=throttled");
  await page.getByRole("table", { name: "Members" }).waitFor();
  expect(new URL(page.url()).search).toBe("");
  expect(await page.getByText("unknown parameter").count()).toBe(0);
});

test("sign-in: providers lead back to where one was, by its path alone where the address is too long", async () => {
  const offers = answering("/api/v1/session", "GET", {
    json: { ...anonymous, providers: [{ id: "corp", name: "Corp SSO", startUrl: "/auth/oidc/corp/start" }] },
  });
  const page = await visit("/exports?reportId=0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a55", { as: null, before: offers });
  const link = page.getByRole("link", { name: "Sign in with Corp SSO" });
  expect(await link.getAttribute("href")).toBe(
    "/auth/oidc/corp/start?returnTo=%2Fexports%3FreportId%3D0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a55",
  );
  const many = Array.from({ length: 50 }, (_, n) => `instanceId=0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a${10 + n}`).join("&");
  await page.goto(`/alerts?${many}`);
  await link.waitFor();
  expect(await link.getAttribute("href")).toBe("/auth/oidc/corp/start?returnTo=%2Falerts");
});

test("sign-in: where nobody is set up, it says how the first administrator comes in", async () => {
  const page = await visit("/", {
    as: null,
    before: answering("/api/v1/session", "GET", { json: { ...anonymous, setupRequired: true } }),
  });
  await page.getByText("muster setup-link").waitFor();
  expect(await page.getByLabel("Password", { exact: true }).count()).toBe(0);
});

const invitees: string[] = [];

afterAll(async () => {
  for (const id of invitees) await apiAs("admin", "DELETE", `/api/v1/members/${id}`);
});

async function invited(): Promise<{ path: string; email: string }> {
  const email = `e2e-${Date.now()}@example.org`;
  const answer = await apiAs("admin", "POST", "/api/v1/members", { email, name: "Ines Invited", role: "viewer" });
  const { member, inviteUrl } = (await answer.json()) as { member: { id: string }; inviteUrl: string };
  invitees.push(member.id);
  const { pathname, hash } = new URL(inviteUrl);
  return { path: pathname + hash, email };
}

test("invitation: accepted in the browser, signed in, and gone the second time", async () => {
  const { path } = await invited();
  const page = await visit(path, { as: null, expected: refusedByServer });
  await page.getByRole("heading", { level: 1, name: "Join" }).waitFor();
  await expect.poll(() => new URL(page.url()).hash, { message: "the token leaves the address" }).toBe("");
  await page.getByRole("button", { name: "Join and sign in" }).click();
  await page.getByText("Enter your name.").waitFor();
  await page.getByLabel("Your name").fill("Ines Invited");
  await page.getByLabel("Password", { exact: true }).fill("password1234");
  await page.getByRole("button", { name: "Join and sign in" }).click();
  await page.getByText("easy to guess", { exact: false }).waitFor();
  await expect
    .poll(() => page.getByLabel("Password", { exact: true }).evaluate((input) => document.activeElement === input))
    .toBe(true);
  await page.getByLabel("Password", { exact: true }).fill("seven grey herons over Utrecht");
  await page.getByRole("button", { name: "Join and sign in" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  const who = await page.evaluate(async () => (await (await fetch("/api/v1/session")).json()).member.name);
  expect(who).toBe("Ines Invited");

  await page.goto("about:blank"); // from /invitation to /invitation#… would be no load
  await page.goto(path);
  await page.getByLabel("Your name").fill("Ines Again");
  await page.getByLabel("Password", { exact: true }).fill("seven grey herons over Utrecht");
  await page.getByRole("button", { name: "Join and sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "This invitation no longer works" }).waitFor();
  await page.getByText("Ask the administrator who invited you").waitFor();
});

test("invitation: half a link says what is missing", async () => {
  const page = await visit("/invitation", { as: null });
  await page.getByText("Open the complete invitation link").waitFor();
});

const setupOpen = answering("/api/v1/setup", "GET", {
  json: { required: true, organizationExists: false, demo: false },
});

async function fillSetup(page: Page) {
  await page.getByRole("textbox", { name: "Organization" }).fill("Nordlicht");
  await page.getByLabel("Your name").fill("Ana Ruiz");
  await page.getByLabel("E-mail address").fill("ana@example.org");
  await page.getByLabel("Password", { exact: true }).fill("seven grey herons over Utrecht");
}

test("setup: closed where there is an administrator", async () => {
  const page = await visit("/setup#token=abc", { as: null });
  await page.getByText("An administrator already exists.").waitFor();
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("E-mail address").waitFor();
});

test("setup: the form sends the link's token once, and what is refused lands at its field", async () => {
  const sent: unknown[] = [];
  const page = await visit("/setup#token=one-time", {
    expected: refusedByServer,
    before: async (p) => {
      await setupOpen(p);
      await p.route("**/api/v1/setup", (route) => {
        if (route.request().method() !== "POST") return route.fallback();
        sent.push(route.request().postDataJSON());
        return sent.length === 1
          ? route.fulfill(
              problem(422, "weak_password", {
                errors: [
                  {
                    in: "body",
                    pointer: "#/password",
                    code: "weak_password",
                    detail: "the password is easy to guess; add unusual words",
                  },
                ],
              }),
            )
          : route.fulfill({ status: 201, json: { authenticated: true } });
      });
    },
  });
  await fillSetup(page);
  await page.getByLabel("Fill the organization with labelled demo data").check();
  expect(new URL(page.url()).hash).toBe("");
  await page.getByRole("button", { name: "Set up and sign in" }).click();
  await page.getByText("The password is easy to guess; add unusual words.").waitFor();
  expect(await page.getByLabel("Password", { exact: true }).getAttribute("aria-invalid")).toBe("true");
  await page.getByRole("button", { name: "Set up and sign in" }).dblclick();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  expect(sent).toHaveLength(2);
  expect(sent[1]).toEqual({
    setupToken: "one-time",
    organizationName: "Nordlicht",
    name: "Ana Ruiz",
    email: "ana@example.org",
    password: "seven grey herons over Utrecht",
    demo: true,
  });
});

test("setup: the used link of a demo says how to get another", async () => {
  const page = await visit("/setup#token=used", {
    expected: refusedByServer,
    before: async (p) => {
      const open = { required: true, organizationExists: true, demo: true };
      await answering("/api/v1/setup", "GET", { json: open })(p);
      await answering("/api/v1/setup", "POST", problem(403, "forbidden", { detail: "This setup link is unknown." }))(p);
    },
  });
  await page.getByText("muster setup-link").waitFor();
  expect(await page.getByRole("textbox").count()).toBe(0);
  expect(await violations(page)).toEqual([]);
});

test("setup: somebody was faster", async () => {
  const page = await visit("/setup#one-time", {
    as: null,
    expected: refusedByServer,
    before: async (p) => {
      await setupOpen(p);
      await answering(
        "/api/v1/setup",
        "POST",
        problem(403, "setup_closed", { detail: "This installation has an administrator; ask them for an invitation." }),
      )(p);
    },
  });
  await fillSetup(page);
  await page.getByRole("button", { name: "Set up and sign in" }).click();
  await page.getByRole("alert").getByText("ask them for an invitation").waitFor();
  await page.getByRole("link", { name: "Go to sign-in" }).waitFor();
});

test("40 what is refused has no violation of WCAG", async () => {
  const page = await visit("/?signIn=failed&reason=denied", { as: null, before: setupOpen });
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByText("Enter your e-mail address.").waitFor();
  expect(await violations(page), "sign-in").toEqual([]);
  await page.goto("/setup#token=abc");
  await page.getByRole("button", { name: "Set up and sign in" }).click();
  await page.getByText("Enter your name.").waitFor();
  expect(await violations(page), "setup").toEqual([]);
  await page.goto("/invitation#abc");
  await page.getByLabel("Your name").waitFor();
  expect(await violations(page), "invitation").toEqual([]);
});
