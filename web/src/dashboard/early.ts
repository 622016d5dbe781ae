// What the dashboard shows first is read before there is a page to show it.
import { api } from "../api/client";
import { queryClient } from "../api/queries";
import { sessionQuery, signedIn } from "../api/session";
import { firstAsked, firstQuery } from "../early/start";

/**
 * readEarly reads who is signed in, and for the dashboard its code and its figures, with the keys that its tiles have:
 * what early/start.ts has asked for. A failure is left to whoever asks next, and says it.
 */
export async function readEarly() {
  const session = queryClient.fetchQuery(sessionQuery).catch(() => undefined);
  const query = firstQuery();
  const who = signedIn(await session);
  if (query === null || who === null) return;
  const paths = firstAsked(who.permissions, query);
  if (paths.length === 0) return;
  await Promise.all([
    import("./DashboardPage").catch(() => {}),
    ...paths.map((path) => queryClient.prefetchQuery(api.queryOptions("get", path, { params: { query } }))),
  ]);
}
