import { api } from "../api/client";

/**
 * useInstanceNames resolves ids of servers in one call. The function it returns is a server's name; its id as long as
 * the name is not there, and where there is no such server any more.
 */
export function useInstanceNames(ids: string[]): (id: string) => string {
  const wanted = [...new Set(ids)].sort().slice(0, 200);
  const instances = api.useQuery(
    "get",
    "/api/v1/instances",
    { params: { query: { id: wanted, pageSize: 200 } } },
    { enabled: wanted.length > 0 },
  );
  const names = new Map(instances.data?.items.map((instance) => [instance.id, instance.name]));
  return (id) => names.get(id) ?? id;
}

/** useInstanceChoice is the first 200 servers, as choices of a select; two of one name are told apart by their host. */
export function useInstanceChoice(): { value: string; label: string }[] {
  const instances = api.useQuery("get", "/api/v1/instances", { params: { query: { pageSize: 200 } } });
  const all = instances.data?.items ?? [];
  const twice = (name: string) => all.filter((i) => i.name === name).length > 1;
  return all.map((i) => ({ value: i.id, label: twice(i.name) ? `${i.name} (${i.host ?? i.id})` : i.name }));
}
