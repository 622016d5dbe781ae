// The first script of each page, in a file of its own. While the application's code is on its way, it asks for who is
// signed in, and for the code and the figures that the dashboard and the page of a server show first. Other pages get the
// code that pages share. The build names the files in the page.
import { dashboardSearch, instanceSearch } from "../url/schemas";
import { parseSearch } from "../url/search";
import { opened } from "../window/opened";
import { namesNone, type Servers, serversOf, windowQuery } from "../window/query";
import { windowOf } from "../window/window";
import { ask } from "./asked";

const measured = [
  "/api/v1/metrics/utilization",
  "/api/v1/metrics/query-performance",
  "/api/v1/metrics/wait-events",
] as const;
const history = "/api/v1/alerts/raised-resolved-history" as const;

/** firstQuery is what the dashboard's tiles ask first, as the address says; null where they ask nothing. */
export function firstQuery() {
  if (location.pathname !== "/") return null;
  const search = dashboardSearch(parseSearch(location.search));
  // A team has to be resolved to its servers first.
  if (namesNone(search) || search.owner) return null;
  return windowQuery({ window: windowOf(search, opened.at), servers: serversOf(search) });
}

const serverPage = /^\/instances\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** firstServer is the server whose page is opened, and what is asked first of its load; null on other pages. */
export function firstServer() {
  const instanceId = serverPage.exec(location.pathname)?.[1];
  if (!instanceId) return null;
  const window = windowOf(instanceSearch(parseSearch(location.search)), opened.at);
  return { instanceId, load: windowQuery({ window, servers: { instanceId: [instanceId] } }) };
}

/** mayMeasure says whether somebody with these permissions may see figures, and so a server's page. */
export const mayMeasure = (permissions: string[]) => permissions.includes("metrics:read");

/** firstAsked is which of the tiles may be asked for by somebody with these permissions. */
export function firstAsked(
  permissions: string[],
  query: Servers,
): readonly ((typeof measured)[number] | typeof history)[] {
  if (!mayMeasure(permissions)) return [];
  // Alerts are asked for by name, which a filter's ids have to be resolved to first.
  const alerts = !query.instanceId && permissions.includes("alerts:read");
  return alerts ? [history, ...measured] : measured;
}

const files = document.querySelector<HTMLElement>("script[data-application]")?.dataset;

/** fetchParts has the browser load a page's code, without running it. */
function fetchParts(parts: string | undefined) {
  for (const href of parts?.split(" ") ?? []) {
    const link = document.createElement("link");
    // Browsers complain of a style sheet that was preloaded and is not used for some seconds, as by a page that waits.
    link.rel = href.endsWith(".css") ? "prefetch" : "modulepreload";
    link.crossOrigin = "";
    link.href = href;
    document.head.append(link);
  }
}

async function start() {
  const server = firstServer();
  if (server) fetchParts(files?.server);
  else if (location.pathname !== "/") fetchParts(files?.shared);
  const answer = await ask("/api/v1/session");
  const query = firstQuery();
  if ((query === null && server === null) || !answer.ok) return;
  const session: { authenticated?: boolean; permissions?: string[] } = await answer.clone().json();
  const permissions = session.authenticated ? (session.permissions ?? []) : [];
  if (server && mayMeasure(permissions)) {
    ask(`/api/v1/instances/${server.instanceId}`).catch(() => {});
    ask("/api/v1/metrics/wait-events", server.load).catch(() => {});
  }
  const paths = query ? firstAsked(permissions, query) : [];
  for (const path of paths) ask(path, query ?? {}).catch(() => {});
  if (paths.length > 0) fetchParts(files?.dashboard);
}

/** The application waits so many milliseconds for the questions: what is on its way is not processed while it starts. */
const patience = 100;

const asking = start().catch(() => {});
// The first number or date that a browser formats takes 20 ms, for it looks through all its languages: done while it waits.
new Intl.NumberFormat().format(0);
// So that texts are laid out once.
document.fonts?.load('1em "Inter Variable"').catch(() => {});
const application = files?.application;
if (application) {
  const waited = new Promise((resolve) => setTimeout(resolve, patience));
  // This script runs while the page is read; the application needs its body.
  const whole = new Promise<unknown>((resolve) => {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", resolve, { once: true });
    else resolve(null);
  });
  Promise.all([whole, Promise.race([asking, waited])]).then(() => import(/* @vite-ignore */ application));
}
