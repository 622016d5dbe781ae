import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { apiAs, serverUrl, violations, visit } from "./browser";

// The description of the API, as Swagger UI draws it. visit holds the console against each test: a script or a style
// that the content security policy forbids is a complaint there.

/** Every address that a page asks, of which there is none but the server's. */
function asked(page: Page): string[] {
  const hosts: string[] = [];
  page.on("request", (request) => hosts.push(new URL(request.url()).origin));
  return hosts;
}

async function opened(operation: string, as: "viewer" | null): Promise<{ page: Page; hosts: string[] }> {
  let hosts: string[] = [];
  const page = await visit(`/docs/api#/${operation}`, {
    as,
    before: async (p) => {
      hosts = asked(p);
    },
  });
  await page.getByRole("button", { name: "Try it out" }).waitFor();
  return { page, hosts };
}

type Operation = { operationId: string; tags: string[] };

/**
 * passed scrolls on by half a window, from the end back to the top, and returns the operations that were drawn: Swagger UI
 * draws those that are near.
 */
const passed = (page: Page) =>
  page.evaluate(() => {
    const drawn = [...document.querySelectorAll(".opblock")].map(({ id }) => id);
    const { scrollHeight, clientHeight } = document.documentElement;
    window.scrollTo(0, window.scrollY + clientHeight >= scrollHeight - 1 ? 0 : window.scrollY + clientHeight / 2);
    return drawn;
  });

test("the description lists every operation, with an example, and asks no other host", async () => {
  const contract = await (await fetch(`${serverUrl}/api/v1/openapi.json`)).json();
  const operations = Object.values(contract.paths as Record<string, Record<string, Operation>>)
    .flatMap((methods) => Object.values(methods))
    .filter(({ operationId }) => operationId);
  const { page, hosts } = await opened("Alerts/listAlerts", null);
  await page.locator(".opblock.is-open .responses-wrapper").getByText("lastTriggeredAt").first().waitFor();
  const ids = operations.map(({ operationId, tags }) => `operations-${tags[0]}-${operationId}`);
  const seen = new Set<string>();
  const missing = async () => {
    for (const id of await passed(page)) seen.add(id);
    return ids.filter((id) => !seen.has(id));
  };
  await expect.poll(missing, { timeout: 90_000 }).toEqual([]);
  expect(seen.size).toBe(ids.length);
  expect([...new Set(hosts)]).toEqual([serverUrl]);
});

/** tried sends the operation that is open, and is what its answer shows. */
async function tried(page: Page, path: string) {
  await page.getByRole("button", { name: "Try it out" }).click();
  const arrived = page.waitForResponse((r) => new URL(r.url()).pathname === path);
  await page.getByRole("button", { name: "Execute", exact: true }).click();
  expect((await arrived).status()).toBe(200);
  return page.locator(".live-responses-table");
}

test("what is tried is answered with the session of who is signed in", async () => {
  const { page, hosts } = await opened("Sign-in/getSession", "viewer");
  await (await tried(page, "/api/v1/session")).getByText('"viewer"').first().waitFor();
  expect([...new Set(hosts)]).toEqual([serverUrl]);
});

test("what is tried is answered with a token", async () => {
  const made = await apiAs("viewer", "POST", "/api/v1/api-tokens", { name: "docs", scopes: ["reports:read"] });
  const { token } = (await made.json()) as { token: string };
  const { page } = await opened("Sign-in/getSession", null);
  await page.getByRole("button", { name: "Authorize" }).first().click();
  const form = page.locator("form", { has: page.locator("#auth-bearer-value") });
  await form.locator("#auth-bearer-value").fill(token);
  await form.getByRole("button", { name: "Apply credentials" }).click();
  await page.getByRole("button", { name: "Close" }).last().click();
  // The button is at the top; what is far below is drawn again on the way back.
  const back = async () => {
    const there = await page.getByRole("button", { name: "Try it out" }).count();
    if (there === 0) await passed(page);
    return there;
  };
  await expect.poll(back, { interval: 300, timeout: 90_000 }).toBe(1);
  await (await tried(page, "/api/v1/session")).getByText('"token"').first().waitFor();
});

test("an operation's description is accessible, in light and dark", async () => {
  const { page } = await opened("Alerts/listAlerts", null);
  expect(await violations(page)).toEqual([]);
});
