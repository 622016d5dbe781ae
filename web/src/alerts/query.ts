import type { paths } from "../api/schema";
import { absoluteTime } from "../ui/format";
import type { alertsSearch } from "../url/schemas";
import { filterOf, namesNone } from "../window/query";
import { isCustom, type Preset, presetNames, type Range, windowOf } from "../window/window";

/** AlertsSearch is what the address of the list says. */
export type AlertsSearch = ReturnType<typeof alertsSearch>;
export type AlertsQuery = NonNullable<paths["/api/v1/alerts"]["get"]["parameters"]["query"]>;
export type Sort = NonNullable<AlertsSearch["sort"]>;

export const pageSizes = [20, 50, 100] as const;
export const defaultSort: Sort = "-lastTriggeredAt";

/**
 * alertsQuery is what an address asks of the list; null where it has a filter that matches nothing. An address without
 * a window asks for alerts of any time, as the KPI counts them; a preset has a beginning only, at its length before the
 * anchor, so that an alert which fires while the page is read is still in it.
 */
export function alertsQuery(search: AlertsSearch, anchor: Date): AlertsQuery | null {
  if (namesNone(search) || search.severity?.length === 0) return null;
  return {
    page: search.page ?? 1,
    pageSize: Math.min(search.pageSize ?? pageSizes[0], 100),
    sort: search.sort ?? defaultSort,
    status: search.status ?? "all",
    muted: search.muted ?? "include",
    ...boundsOf(search, anchor),
    ...filterOf(search),
    ...(search.severity && { severity: search.severity }),
    ...(search.q && { q: search.q }),
  };
}

function boundsOf(range: Range, anchor: Date): { from?: string; to?: string } {
  if (range.range) return { from: windowOf(range, anchor).from };
  return isCustom(range) ? { from: range.from, to: range.to } : {};
}

/** windowText says in words which alerts the window of an address leaves; null where there is none. */
export function windowText(range: Range): string | null {
  if (range.range) return `Last triggered in the ${presetNames[range.range as Preset].toLowerCase()}`;
  if (isCustom(range)) return `Last triggered from ${absoluteTime(range.from)} to ${absoluteTime(range.to)}`;
  return null;
}

/** isFiltered says that an address narrows the list beyond its scope. */
export const isFiltered = ({ status, severity, q, muted }: AlertsSearch) =>
  (status !== undefined && status !== "all") ||
  severity !== undefined ||
  q !== undefined ||
  (muted !== undefined && muted !== "include");

type Column = "lastTriggeredAt" | "createdAt" | "severity" | "state" | "owner";

/** first is the order that a column begins with: the latest, the worst or the open. */
export const first: Record<Column, Sort> = {
  lastTriggeredAt: "-lastTriggeredAt",
  createdAt: "-createdAt",
  severity: "-severity",
  state: "state",
  owner: "owner",
};
