// What a person sees who reaches Muster over plain HTTP from another machine, and whose
// identity provider is down. A name stands for the other machine that the browser does
// not take for its own.
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, testLong } from "./browser";
import { adminEmail, password, type Started, start } from "./muster";

let muster: Started;
let browser: Browser;
const secret = join(tmpdir(), `muster-e2e-oidc-${process.pid}`);

beforeAll(async () => {
  await writeFile(secret, "not-a-secret", { mode: 0o600 });
  muster = await start({
    settings: {
      MUSTER_OIDC_ISSUER: "http://127.0.0.1:1",
      MUSTER_OIDC_CLIENT_ID: "muster",
      MUSTER_OIDC_CLIENT_SECRET_FILE: secret,
    },
  });
  browser = await launch("--host-resolver-rules=MAP muster.lan 127.0.0.1");
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await muster?.stop();
  await rm(secret, { force: true });
});

test("a provider that is down is offered, and says why it came to nothing", async () => {
  const page = await browser.newPage({ baseURL: muster.url });
  await page.goto("/exports?reportId=0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a55");
  const offered = page.getByRole("link", { name: "Sign in with 127.0.0.1" });
  expect(await offered.getAttribute("href")).toBe(
    "/auth/oidc/sso/start?returnTo=%2Fexports%3FreportId%3D0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a55",
  );
  await offered.click();
  await page.getByText("The identity provider is not responding correctly.").waitFor();
  expect(new URL(page.url()).search, "the reason is taken out of the address").not.toContain("signIn");
  await page.close();
});

test("plain HTTP from another machine asks for no password, and says what to do", async () => {
  const page = await browser.newPage({ baseURL: `http://muster.lan:${muster.port}` });
  for (const address of ["/", "/setup#token=abc", "/invitation#token=abc"]) {
    await page.goto(address);
    const refusal = page.getByRole("alert").filter({ hasText: "You cannot sign in at this address" });
    await refusal.waitFor();
    for (const said of [
      "https://",
      "MUSTER_INSECURE_COOKIES=true",
      `MUSTER_PUBLIC_URL=http://muster.lan:${muster.port}`,
      "unencrypted",
    ]) {
      expect(await refusal.textContent()).toContain(said);
    }
    expect(await page.getByLabel("Password").count(), `${address} asks for a password`).toBe(0);
  }
  // The trap is real: signed in, and nobody at the next request.
  const trap = await page.evaluate(
    async (body) => {
      const entered = await fetch("/api/v1/session", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      });
      const after = (await (await fetch("/api/v1/session")).json()) as { authenticated: boolean };
      return `${entered.status} ${after.authenticated}`;
    },
    JSON.stringify({ email: adminEmail, password }),
  );
  expect(trap).toBe("200 false");
  await page.close();
});

testLong(
  "where plain HTTP is allowed every page warns, and the sign-in works",
  async () => {
    await muster.restart({ MUSTER_PUBLIC_URL: `http://muster.lan:${muster.port}`, MUSTER_INSECURE_COOKIES: "true" });
    const page = await browser.newPage({ baseURL: `http://muster.lan:${muster.port}` });
    const warning = page.getByText("This connection is not encrypted");
    for (const address of ["/docs/api", "/setup#token=abc", "/invitation#token=abc", "/alerts"]) {
      await page.goto(address);
      await warning.first().waitFor();
    }
    await page.getByLabel("E-mail address").fill(adminEmail);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Alerts" }).waitFor();
    await warning.first().waitFor();
    await page.close();
  },
  120_000,
);
