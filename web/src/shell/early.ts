// What the dashboard and the page of a server show first is read before there is a page to show it.
import { api } from "../api/client";
import { queryClient } from "../api/queries";
import { sessionQuery, signedIn } from "../api/session";
import { firstAsked, firstQuery, firstServer, mayMeasure } from "../early/start";

/**
 * readEarly reads who is signed in, and the code and the figures of the first page, with the keys that its parts have: what
 * early/start.ts has asked for. A failure is left to whoever asks next, and says it.
 */
export async function readEarly() {
  const session = queryClient.fetchQuery(sessionQuery).catch(() => undefined);
  const server = firstServer();
  const query = firstQuery();
  const who = signedIn(await session);
  if (who === null) return;
  if (server !== null && mayMeasure(who.permissions)) {
    const path = { instanceId: server.instanceId };
    await Promise.all([
      import("../instances/InstancePage").catch(() => {}),
      queryClient.prefetchQuery(api.queryOptions("get", "/api/v1/instances/{instanceId}", { params: { path } })),
      queryClient.prefetchQuery(
        api.queryOptions("get", "/api/v1/metrics/wait-events", { params: { query: server.load } }),
      ),
    ]);
  }
  if (query === null) return;
  const paths = firstAsked(who.permissions, query);
  if (paths.length === 0) return;
  await Promise.all([
    import("../dashboard/DashboardPage").catch(() => {}),
    ...paths.map((path) => queryClient.prefetchQuery(api.queryOptions("get", path, { params: { query } }))),
  ]);
}
