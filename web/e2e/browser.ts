// A browser for the tests: Debian's chromium under playwright-core, one process a worker. Its headless shell, where
// that is installed: the same browser without windows, in three quarters of the time.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect, inject, type TestContext, test, vi } from "vitest";
import { leaveBehind, take } from "./kept";
import type { Role } from "./server";

const server = inject("server");
export const serverUrl = server.url;
/** Where the pages are: the server, or with MUSTER_E2E_PAGES a Vite that serves what is being written. */
const pagesUrl = process.env.MUSTER_E2E_PAGES ?? serverUrl;

const browsers: { [measured in "true" | "false"]?: Browser } = {};
const open: Page[] = [];

/**
 * A test's page lives for seconds: optimizing its code takes longer than it saves, an eighth of what these tests compute.
 * A process of its own for what is drawn, which no GPU draws, takes 6 % more. Where speed is measured, both are as for
 * anybody.
 */
const shortLived = ["--js-flags=--no-opt --no-maglev", "--in-process-gpu"];

async function launched(measured: boolean): Promise<Browser> {
  browsers[`${measured}`] ??= await launch(...(measured ? [] : shortLived));
  return browsers[`${measured}`] as Browser;
}

const executable = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));

/** launch starts a chromium with nothing of its own on the network. */
export const launch = (...more: string[]) =>
  chromium.launch({
    executablePath: process.env.MUSTER_CHROMIUM ?? executable,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
  });

export type Visit = BrowserContextOptions & {
  /** Who is signed in; null is nobody. */
  as?: Role | null;
  /** Complaints of the console that the test provokes: a pattern for each. */
  expected?: RegExp[];
  /** The speed of the page is measured. */
  measured?: boolean;
  /** The test looks at the notices of finished reports: they are not put aside. */
  notices?: boolean;
  /** The test counts the entries of the page's history: the page has none of its own before the address. */
  fresh?: boolean;
  /** Done before the first page is loaded, as to freeze its clock or to route requests. */
  before?: (page: Page) => Promise<unknown>;
};

const complaints = new WeakMap<Page, { said: string[]; expected: RegExp[] }>();

/**
 * visit opens an address, signed in, with the base URL set: `page.goto("/alerts")` works. The page has nothing of what a
 * test before did to it.
 */
export async function visit(
  address: string,
  { as = "admin", expected = [], measured = false, notices = false, fresh = false, before, ...options }: Visit = {},
): Promise<Page> {
  const prepare = async (made: Page) => {
    made.context().setDefaultTimeout(30_000);
    if (!measured) await uncover(made, notices ? ":hover" : ":is(:hover, [role=group])");
  };
  const page = await take(await launched(measured), prepare, {
    baseURL: pagesUrl,
    options,
    fresh: fresh || measured || notices,
  });
  open.push(page);
  if (as) await enter(page.context(), serverUrl, server.sessions[as]);
  const heard = { said: [] as string[], expected };
  complaints.set(page, heard);
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    heard.said.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => heard.said.push(String(error)));
  await before?.(page);
  await page.goto(address);
  return page;
}

/**
 * uncover does what a person does about a notice in the way: moves the mouse off it, which lets its time run on, and
 * dismisses those of reports (a group each). Tests beside this one ask for reports as the same member, whose pages
 * all tell of them for 20 seconds each.
 */
const uncover = (page: Page, inTheWay: string) =>
  page.addLocatorHandler(
    page.locator(`.mantine-Notification-root${inTheWay}`).first(),
    async () => {
      await page.mouse.move(0, 0);
      const dismiss = page.locator(`.mantine-Notification-root${inTheWay} button[aria-label=Dismiss]`);
      await dismiss.evaluateAll((buttons) => {
        for (const button of buttons) (button as HTMLElement).click();
      });
    },
    { noWaitAfter: true },
  );

/** enter gives a browser's context a session of the server at an address. */
export const enter = (context: BrowserContext, url: string, session: string) =>
  context.addCookies([
    {
      name: "__Host-muster_session",
      value: session,
      // a __Host- cookie is Secure; browsers send those to loopback addresses over http, too
      url: url.replace("http:", "https:"),
      secure: true,
      httpOnly: true,
      sameSite: "Lax",
    },
  ]);

/** leave ends what a test has visited, and holds against it what the console complained of. */
export async function leave({ task }: TestContext) {
  const failed = task.result?.state === "fail";
  const unexpected: string[] = [];
  for (const page of open.splice(0)) {
    const { said, expected } = complaints.get(page) ?? { said: [], expected: [] };
    unexpected.push(...said.filter((text) => !expected.some((pattern) => pattern.test(text))));
    await leaveBehind(page, failed);
  }
  expect(unexpected, "what the console complained of").toEqual([]);
}

// Evaluated to nothing: otherwise all of axe would be sent back.
const axeSource = `${readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")};0`;

/** `make test-all` leaves nothing out. */
export const thorough = Boolean(process.env.MUSTER_TEST_LONG);

/** testLong is a test that `make test-all` alone runs. */
export const testLong = test.runIf(thorough);

/** widths are those in pixels at which a test looks at a page: a phone's, and in `make test-all` a wide one's, too. */
export const widths = (wide: number) => (thorough ? [wide, 360] : [360]);

/**
 * violations are those of WCAG 2.2 A and AA that axe-core finds on the page as it is, each with where: in light and in
 * dark in `make test-all`, and in one of them in `make test`, which the name of the test decides. axe computes longer
 * than most tests.
 */
export async function violations(page: Page): Promise<string[]> {
  // evaluated, not added as a script: the content security policy admits no inline ones
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
  const found: string[] = [];
  let seen = "";
  for (const scheme of schemes()) {
    await page.emulateMedia({ colorScheme: scheme });
    const now = await page.evaluate(inScheme, { scheme, seen });
    found.push(...now.found);
    seen = now.seen;
  }
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}

function schemes(): ("dark" | "light")[] {
  if (thorough) return ["dark", "light"];
  const name = expect.getState().currentTestName ?? "";
  return [[...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 2 ? "dark" : "light"];
}

/**
 * inScheme runs in the page. What it sees is all that rules look at but colours: the document, and where each element
 * is and whether it shows. Where that is what was seen before, only the rules of colours can find more: they alone are
 * run, in half of the time.
 */
async function inScheme({ scheme, seen }: { scheme: string; seen: string }) {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  // Colours on their way from one scheme to the other are nobody's.
  for (const animation of document.getAnimations()) if (animation instanceof CSSTransition) animation.finish();
  const html = document.documentElement.cloneNode(true) as HTMLElement;
  html.removeAttribute("data-mantine-color-scheme");
  const sees = [html.outerHTML];
  for (const element of document.querySelectorAll("*")) {
    const { x, y, width, height } = element.getBoundingClientRect();
    const { display, visibility, opacity, overflow, clipPath, pointerEvents, zIndex } = getComputedStyle(element);
    sees.push([x, y, width, height, display, visibility, opacity, overflow, clipPath, pointerEvents, zIndex].join(" "));
  }
  const now = sees.join("\n");
  const { axe } = window as unknown as { axe: typeof import("axe-core") };
  const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  // Not what stands in a frame: the one there is shows a mail, sandboxed, and is not ours to answer for.
  const result = await axe.run(document, {
    runOnly: now === seen ? { type: "rule", values: ["color-contrast", "link-in-text-block"] } : rules,
    iframes: false,
    resultTypes: ["violations"], // of what is no violation, which nobody reads, one node a rule is enough
  });
  const found = result.violations.flatMap((v) =>
    v.nodes.map((n) => `${scheme}: ${v.id}: ${n.target.join(" ")}: ${n.failureSummary ?? ""}`),
  );
  return { found, seen: now };
}

/** requestsTo collects the addresses that the page asks from now on, of the API's paths that begin so. */
export function requestsTo(page: Page, path: string): URL[] {
  const asked: URL[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.pathname.startsWith(path)) asked.push(url);
  });
  return asked;
}

/** unique is a name that nothing else has: tests share a server. */
export const unique = (what: string) => `${what} ${Date.now()}-${Math.floor(Math.random() * 1e6)}`;

/** row is the row of a table that has a text. */
export const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

/** fed sends to an intake with a token made for it, and returns what was answered. */
export async function fed<T>(path: string, body: unknown): Promise<T> {
  const made = await apiAs("admin", "POST", "/api/v1/ingest-tokens", { name: unique("e2e feed") });
  const { id, token } = (await made.json()) as { id: string; token: string };
  const answer = await fetch(`${serverUrl}${path}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  await apiAs("admin", "DELETE", `/api/v1/ingest-tokens/${id}`);
  expect(answer.ok, await answer.clone().text()).toBe(true);
  return (await answer.json()) as T;
}

/** adminSession is that of the administrator. */
export const adminSession = server.sessions.admin;

/** apiAs calls the API as a member with that role, as a program would. */
export const apiAs = (role: Role, method: string, path: string, body?: unknown): Promise<Response> =>
  apiBy(server.sessions[role], method, path, body);

/** readable waits until what was just made can be read: a list may lag by more than a write waits for it. */
export const readable = (path: string) =>
  vi.waitFor(async () => expect((await apiAs("admin", "GET", path)).status).toBe(200), { timeout: 15_000 });

/** apiBy calls the API with a session. */
export async function apiBy(session: string, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${serverUrl}${path}`, {
    method,
    headers: {
      Cookie: `__Host-muster_session=${session}`,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}
