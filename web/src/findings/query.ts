import type { paths } from "../api/schema";
import type { findingsSearch } from "../url/schemas";
import { filterOf } from "../window/query";

/** FindingsSearch is what the address of the list says. */
export type FindingsSearch = ReturnType<typeof findingsSearch>;
export type FindingsQuery = NonNullable<paths["/api/v1/findings"]["get"]["parameters"]["query"]>;
export type GroupsQuery = NonNullable<paths["/api/v1/findings/groups"]["get"]["parameters"]["query"]>;
export type Sort = NonNullable<FindingsSearch["sort"]>;

export const defaultSort: Sort = "-severity";

/** findingsQuery is what an address asks of the list; null where it has a filter that matches nothing. */
export function findingsQuery(search: FindingsSearch): FindingsQuery | null {
  const { instanceId, tag, severity, domain, checkId, status } = search;
  if ([instanceId, tag, severity, domain, checkId, status].some((filter) => filter?.length === 0)) return null;
  return {
    page: search.page ?? 1,
    pageSize: Math.min(search.pageSize ?? 20, 200),
    sort: search.sort ?? defaultSort,
    ...filterOf(search),
    ...(search.databaseId && { databaseId: search.databaseId }),
    ...(severity && { severity }),
    ...(domain && { domain }),
    ...(checkId && { checkId }),
    ...(status && { status }),
    ...(search.overdue && { overdue: true }),
    ...(search.assigneeId && { assigneeId: search.assigneeId }),
    ...(search.q && { q: search.q }),
  };
}

/** groupOf is what the findings of an address are grouped by; null is the flat list, which alone has an order. */
export const groupOf = ({ group, sort }: FindingsSearch): "check" | "instance" | null => {
  if (group === "none" || (group === undefined && sort !== undefined)) return null;
  return group ?? "check";
};

/** isFiltered says that an address narrows the list, beyond what is open. */
export const isFiltered = (search: FindingsSearch) =>
  (Object.keys(noFilters) as (keyof FindingsSearch)[]).some((filter) => search[filter] !== undefined);

export const noFilters: Partial<FindingsSearch> = {
  instanceId: undefined,
  tag: undefined,
  databaseId: undefined,
  severity: undefined,
  domain: undefined,
  checkId: undefined,
  status: undefined,
  overdue: undefined,
  assigneeId: undefined,
  q: undefined,
};

/** filtersOf is what an address narrows the list by, as the API has it. */
export const filtersOf = ({
  group: _,
  sort: __,
  page: ___,
  pageSize: ____,
  overdue,
  ...filters
}: FindingsSearch): GroupsQuery => ({ ...filters, ...(overdue && { overdue: true }) });

type Column = "severity" | "checkId" | "instance" | "owner" | "firstSeenAt" | "lastSeenAt" | "dueAt";

/** first is the order that a column begins with: the worst, the first name, the longest there, what was seen last. */
export const first: Record<Column, Sort> = {
  severity: "-severity",
  checkId: "checkId",
  instance: "instance",
  owner: "owner",
  firstSeenAt: "firstSeenAt",
  lastSeenAt: "-lastSeenAt",
  dueAt: "dueAt",
};
