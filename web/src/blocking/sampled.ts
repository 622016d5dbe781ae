import { api } from "../api/client";
import { useScope } from "../window/scope";

/**
 * useSampled says whether it was looked at in the window what the sessions of the servers in scope wait for; null: that is
 * not known yet. Where no sample tells of locks, that there is no episode means nothing.
 */
export function useSampled(instanceId?: string): boolean | null {
  const { window, servers, matchesNothing } = useScope();
  const { from, to, bucketSize } = window;
  const query = { from, to, bucketSize, ...(instanceId === undefined ? servers : { instanceId: [instanceId] }) };
  const { data, isError } = api.useQuery(
    "get",
    "/api/v1/metrics/wait-events",
    { params: { query } },
    { enabled: !matchesNothing },
  );
  if (matchesNothing || isError) return false;
  return data ? data.series.locks.some((value) => value !== null) : null;
}
