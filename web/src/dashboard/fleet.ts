import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { everyInstance } from "../instances/every";
import { namesNone, type Servers } from "../window/query";

type Instance = Schemas["Instance"];

/** What a filter of servers is on the wire of the alerts: names or ids, never both; neither is all that have the tags. */
export type AlertScope = Servers & { instanceName?: string[] };

const pageSize = 200;

/** A server that is down is looked at again so often: somebody waits for it. Milliseconds. */
const whileDown = 10_000;

const fleetQuery = (tag?: string[]) =>
  queryOptions({
    queryKey: ["get", "/api/v1/instances", "every page", ...(tag ? [tag] : [])],
    queryFn: ({ signal }) => everyInstance({ tag }, signal),
  });

/** useFleet is every server of the organization, page after page. Its key is of the family that Refresh asks again. */
export const useFleet = (enabled: boolean) => useQuery({ ...fleetQuery(), enabled });

/** useChosen resolves the filter's ids; without ids, or with a filter that matches nothing, it asks nothing. */
export const useChosen = (servers: Servers) => useQuery(chosenQuery(servers));

const chosenQuery = (servers: Servers) => ({
  ...api.queryOptions("get", "/api/v1/instances", {
    params: { query: { id: servers.instanceId ?? [], tag: servers.tag, pageSize } },
  }),
  enabled: servers.instanceId !== undefined && !namesNone(servers),
});

/** useReporting is the servers in scope as they report now, those of the filter or all of the organization, read again so often. */
export function useReporting(servers: Servers, every = 30_000) {
  const byId = servers.instanceId !== undefined;
  const pace = (instances: Instance[]) =>
    instances.some((i) => i.status === "down") ? Math.min(every, whileDown) : every;
  const fleet = useQuery({
    ...fleetQuery(servers.tag),
    ...usePolling(pace),
    enabled: !byId && !namesNone(servers),
  });
  const chosen = useQuery({
    ...chosenQuery(servers),
    ...usePolling<Schemas["InstancePage"]>(({ items }) => pace(items)),
  });
  if (!byId) return { ...fleet, instances: fleet.data };
  return { ...chosen, instances: chosen.data?.items };
}

/**
 * alertScope says how the alerts are asked for the chosen servers: by name, as long as every id has one and nobody else
 * in the organization goes by it, else by id. A name that two servers share would show the alerts of both.
 */
export function alertScope(ids: string[], chosen: Instance[], fleet: Instance[]): AlertScope {
  const bearers = new Map<string, number>();
  for (const { name } of fleet) bearers.set(name, (bearers.get(name) ?? 0) + 1);
  const names = new Map(chosen.map(({ id, name }) => [id, name]));
  const unique = ids.flatMap((id) => {
    const name = names.get(id);
    return name !== undefined && bearers.get(name) === 1 ? [name] : [];
  });
  return unique.length === ids.length ? { instanceName: unique } : { instanceId: ids };
}

export type ScopeOfAlerts = {
  /** null until the names are here: nothing may be asked before. */
  scope: AlertScope | null;
  /** Why the names do not come. */
  error: unknown;
  retry: () => void;
};

/** useAlertScope is alertScope of the filter as its names come in; without ids it is there at once. */
export function useAlertScope({ instanceId: ids, tag }: Servers): ScopeOfAlerts {
  const fleet = useFleet(ids?.length !== 0);
  const chosen = useChosen({ instanceId: ids });
  const tagged = { ...(tag && { tag }) };
  const retry = () => {
    if (fleet.isError) fleet.refetch();
    if (chosen.isError) chosen.refetch();
  };
  if (ids === undefined) return { scope: tagged, error: null, retry };
  if (!fleet.data || !chosen.data) return { scope: null, error: fleet.error ?? chosen.error, retry };
  return { scope: { ...alertScope(ids, chosen.data.items, fleet.data), ...tagged }, error: null, retry };
}

export type Counted = Record<Instance["status"], number>;

/** countOf is how many servers are in each state. */
export function countOf(instances: Instance[]): Counted {
  const counts: Counted = { up: 0, down: 0, silent: 0, unknown: 0, inactive: 0 };
  for (const { status } of instances) counts[status]++;
  return counts;
}

/** A new instance has no values before its first whole minute is over and has been read. */
const firstValues = 3 * 60_000;

/** Until then its first values are worth a panel of their own: what still lacks then has a reason that others say. */
export const beginning = 10 * 60_000;

/** awaitsFirst says that all that is in scope is so new that nothing, or not everything, can have been measured yet. */
export const awaitsFirst = (
  inScope: { createdAt: string; active: boolean }[],
  now: number,
  within = firstValues,
): boolean =>
  inScope.some((i) => i.active) && inScope.every((i) => !i.active || now - Date.parse(i.createdAt) < within);
