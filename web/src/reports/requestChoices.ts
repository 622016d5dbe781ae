// What the form offers, and the names of what is chosen.
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, client, type Schemas } from "../api/client";

/**
 * ownScroll makes the list of a Select scroll by itself: Mantine's scroll area around it cannot be reached by
 * keyboard, and axe says so, while a combobox's list is scrolled by the arrow keys.
 */
export const ownScroll = {
  withScrollArea: false,
  styles: { options: { maxHeight: 240, overflowY: "auto" } },
} as const;

/** named is what is known of chosen ids: in `known` those that exist, and whether that is final. */
export type Named<T> = { known: Map<string, T>; settled: boolean };

const byId = <T extends { id: string }>(...lists: (T[] | undefined)[]) =>
  new Map(lists.flatMap((list) => list ?? []).map((item) => [item.id, item]));

/** Which servers are offered: those that are active, those on which one may act. */
type Offered = { active?: boolean; mayAct?: boolean };

/** useInstanceChoices finds servers whose names contain a text, and names those that are chosen. */
export function useInstanceChoices(text: string, chosen: string[], { active, mayAct }: Offered = {}) {
  const [q] = useDebouncedValue(text.trim(), 250);
  const found = api.useQuery(
    "get",
    "/api/v1/instances",
    { params: { query: { ...(q && { q }), ...(active && { status: "active" as const }), mayAct, pageSize: 50 } } },
    { placeholderData: keepPreviousData },
  );
  const ids = chosen.slice(0, 500);
  const names = api.useQuery(
    "get",
    "/api/v1/instances",
    { params: { query: { id: ids } } },
    { placeholderData: keepPreviousData, enabled: ids.length > 0 },
  );
  const named: Named<Schemas["Instance"]> = {
    known: byId(names.data?.items, found.data?.items),
    settled: ids.length === 0 || (names.isSuccess && !names.isPlaceholderData),
  };
  return { found, named };
}

/** useDatabaseChoices lists the databases of a server whose names contain a text; null is no server yet. */
export function useDatabaseChoices(instanceId: string | null, text: string) {
  const [q] = useDebouncedValue(text.trim(), 250);
  return api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/databases",
    { params: { path: { instanceId: instanceId ?? "" }, query: { ...(q && { q }), pageSize: 100 } } },
    { enabled: instanceId !== null },
  );
}

/** useActiveCount is how many servers are assessed when a request names none; undefined until it is known. */
export function useActiveCount(): number | undefined {
  const { data } = api.useQuery("get", "/api/v1/instances", {
    params: { query: { status: "active", mayAct: true, pageSize: 1 } },
  });
  return data?.page.totalItems;
}

/** useMemberChoices finds members who can receive a report, and names those that are chosen. */
export function useMemberChoices(text: string, chosen: string[]) {
  const [q] = useDebouncedValue(text.trim(), 250);
  const found = api.useQuery(
    "get",
    "/api/v1/members",
    { params: { query: { ...(q && { q }), pageSize: 50 } } },
    { placeholderData: keepPreviousData },
  );
  const ids = [...chosen].sort();
  const names = useQuery({
    queryKey: ["get", "/api/v1/members", "named", ids],
    queryFn: () => membersOf(ids),
    placeholderData: keepPreviousData,
    enabled: ids.length > 0,
  });
  const named: Named<Schemas["Member"]> = {
    known: byId(names.data, found.data?.items),
    settled: ids.length === 0 || (names.isSuccess && !names.isPlaceholderData),
  };
  return { found, named };
}

/** membersOf turns the pages of the member list until every id is found: the list cannot be asked by id. */
async function membersOf(ids: string[]): Promise<Schemas["Member"][]> {
  const wanted = new Set(ids);
  const members: Schemas["Member"][] = [];
  for (let page = 1; wanted.size > 0; page++) {
    const { data } = await client.GET("/api/v1/members", { params: { query: { page, pageSize: 200 } } });
    for (const member of data?.items ?? []) if (wanted.delete(member.id)) members.push(member);
    if (!data || page >= data.page.totalPages) break;
  }
  return members;
}

/** nameOr is the name of something chosen; what does not exist is called unknown, once that is certain. */
export function nameOr<T extends { name: string }>(named: Named<T>, id: string, what: string): string {
  return named.known.get(id)?.name ?? (named.settled ? `Unknown ${what} ${id.slice(0, 8)}…` : "…");
}
