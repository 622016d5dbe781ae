// What the dashboard shows first is asked for before there is a page to show it.
import { api } from "../api/client";
import { queryClient } from "../api/queries";
import { sessionQuery, signedIn } from "../api/session";
import { dashboardSearch } from "../url/schemas";
import { parseSearch } from "../url/search";
import { opened } from "../window/scope";
import { windowOf } from "../window/window";
import { windowQuery } from "./asking";

const measured = [
  "/api/v1/metrics/utilization",
  "/api/v1/metrics/query-performance",
  "/api/v1/metrics/wait-events",
] as const;

/**
 * askEarly asks who is signed in, and for the dashboard also for its code and its figures, with the keys that its tiles
 * have: React starts while the answers are on their way. A failure is left to whoever asks next, and says it.
 */
export async function askEarly() {
  const session = queryClient.fetchQuery(sessionQuery).catch(() => undefined);
  if (location.pathname !== "/") return;
  import("./DashboardPage").catch(() => {});
  const who = signedIn(await session);
  const { instanceId, ...range } = dashboardSearch(parseSearch(location.search));
  if (!who?.permissions.includes("metrics:read") || instanceId?.length === 0) return;
  const window = windowOf(range, opened.at);
  const query = windowQuery({ window, instanceIds: instanceId });
  for (const path of measured) queryClient.prefetchQuery(api.queryOptions("get", path, { params: { query } }));
  // Alerts are asked for by name, which a filter's ids have to be resolved to first.
  if (instanceId || !who.permissions.includes("alerts:read")) return;
  queryClient.prefetchQuery(api.queryOptions("get", "/api/v1/alerts/raised-resolved-history", { params: { query } }));
}
