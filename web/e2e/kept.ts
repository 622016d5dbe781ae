// Pages that serve one test after the other. A fresh page compiles all of the application again: the next test's first
// page costs 0.5 s of a processor in a fresh context, and 0.3 s in one that was there before.
import type { Browser, BrowserContextOptions, CDPSession, Page } from "playwright-core";

type Kept = {
  page: Page;
  /** Where the pages are that are kept. */
  origin: string;
  devtools: CDPSession;
  /** Something was done to it that cannot be undone. */
  lasting: boolean;
};

const kept = new WeakMap<Browser, Kept[]>();
const known = new WeakMap<Page, Kept>();
let takes = 0;

/** usual is what a context is made with. */
export const usual = {
  viewport: { width: 1320, height: 900 },
  locale: "en-GB",
  timezoneId: "UTC",
  colorScheme: "light",
  reducedMotion: "reduce",
} as const satisfies BrowserContextOptions;

/** changeable are the options that a page can be given after it was opened. */
const changeable = new Set(["viewport", "colorScheme"]);

/** Where a page rests, in the process that it has: without a script, and without a request. */
const resting = "about:blank";

/**
 * take is a page that a test before was done with. It is a fresh one, prepared, where there is none, where the options
 * are more than a page can be given after it was opened, or where it is to be fresh.
 */
export async function take(
  browser: Browser,
  prepare: (page: Page) => Promise<unknown>,
  { baseURL, options, fresh }: { baseURL: string; options: BrowserContextOptions; fresh: boolean },
): Promise<Page> {
  const keeps = !fresh && Object.keys(options).every((name) => changeable.has(name));
  const again = keeps ? kept.get(browser)?.pop() : undefined;
  const wanted = { ...usual, baseURL, ...options };
  const page = again?.page ?? (await (await browser.newContext(wanted)).newPage());
  if (again) await change(page, wanted);
  else await prepare(page);
  // Each visit has a cookie of its own. The server's answers vary by cookie: the browser does not answer from what it
  // was told in the visit before, and still has the application's files.
  await page.context().addCookies([{ name: "visit", value: `${++takes}`, url: wanted.baseURL }]);
  if (keeps && !again) await watch(page, baseURL);
  return page;
}

async function change(page: Page, { viewport, colorScheme, reducedMotion }: BrowserContextOptions) {
  if (viewport) await page.setViewportSize(viewport);
  await page.emulateMedia({ media: null, colorScheme, reducedMotion, forcedColors: "none", contrast: "no-preference" });
}

/** watch has a page known that can be kept: unless something is done to it that cannot be undone. */
async function watch(page: Page, url: string) {
  const context = page.context();
  const { origin } = new URL(url);
  const state: Kept = { page, origin, devtools: await context.newCDPSession(page), lasting: false };
  known.set(page, state);
  const lasts = <T extends object>(thing: T, ...names: (keyof T)[]) => {
    for (const name of names) {
      const call = thing[name] as (...args: unknown[]) => unknown;
      const noted = (...args: unknown[]) => {
        state.lasting = true;
        return call.apply(thing, args);
      };
      Object.assign(thing, { [name]: noted });
    }
  };
  lasts(page, "addInitScript", "addLocatorHandler", "exposeBinding", "exposeFunction", "routeWebSocket");
  lasts(page, "setDefaultNavigationTimeout", "setDefaultTimeout", "setExtraHTTPHeaders");
  lasts(context, "addInitScript", "exposeBinding", "exposeFunction", "grantPermissions", "newCDPSession");
  lasts(context, "routeWebSocket", "setDefaultNavigationTimeout", "setDefaultTimeout", "setExtraHTTPHeaders");
  lasts(context, "setGeolocation", "setOffline");
  lasts(context.clock, "fastForward", "install", "pauseAt", "resume", "runFor", "setFixedTime", "setSystemTime");
}

/** leaveBehind ends a test's page: it is put back for the next test, or closed where that is not to be had. */
export async function leaveBehind(page: Page, failed: boolean) {
  const context = page.context();
  const state = known.get(page);
  // Answers that a test was still changing have nobody left to go to. What is asked from here on goes to the server,
  // which does not know what the test made up: its refusals are nobody's complaint.
  for (const each of context.pages()) await each.unrouteAll({ behavior: "ignoreErrors" });
  const browser = context.browser();
  const keeps = browser && state && !state.lasting && !failed && (await putBack(state));
  if (keeps) kept.set(browser, [...(kept.get(browser) ?? []), state]);
  else await context.close();
}

/** events are those that a test may listen to. Of a page's end, playwright itself wants to know. */
const events = [
  ...["console", "dialog", "domcontentloaded", "download", "filechooser", "frameattached", "framedetached"],
  ...["framenavigated", "load", "page", "pageerror", "popup", "request", "requestfailed", "requestfinished"],
  ...["response", "weberror", "websocket", "worker"],
];

/**
 * putBack has nothing left of a test. It says whether it could: the page may be closed, or on its way elsewhere.
 */
async function putBack({ page, origin, devtools }: Kept): Promise<boolean> {
  const context = page.context();
  if (new URL(page.url()).origin !== origin) return false; // it keeps something of another server
  try {
    for (const event of events) for (const thing of [page, context]) thing.removeAllListeners(event);
    await context.unrouteAll({ behavior: "ignoreErrors" });
    for (const other of context.pages()) if (other !== page) await other.close();
    // First the application ends: it would write again what is cleared.
    await page.goto(resting);
    await page.mouse.move(0, 0);
    await page.evaluate(() => {
      window.name = "";
    });
    // With the local storage goes that of the session.
    const storageTypes = "local_storage,indexeddb,cache_storage,service_workers";
    await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes });
    await context.clearCookies();
    await devtools.send("Page.resetNavigationHistory");
    return true;
  } catch {
    return false;
  }
}
