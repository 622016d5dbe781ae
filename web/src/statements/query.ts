// What the addresses of the list and of one statement ask for.
import type { Schemas } from "../api/client";
import type { paths } from "../api/schema";
import type { statementsSearch } from "../url/schemas";
import type { Servers } from "../window/query";
import { type BucketSize, bucketLengths, type Window } from "../window/window";

/** StatementsSearch is what the address of the list says. */
export type StatementsSearch = ReturnType<typeof statementsSearch>;
export type StatementsQuery = paths["/api/v1/statements"]["get"]["parameters"]["query"];
export type Sort = NonNullable<StatementsSearch["sort"]>;
export type Column = "totalMs" | "calls" | "meanMs" | "maxMs";
export type Statement = Schemas["Statement"];

export const defaultSort: Sort = "-totalMs";

/** mostStatements is how many statements a page has at most. */
export const mostStatements = 100;

/** statementsQuery is what an address asks of the list; `texts` says that the organization keeps texts to search in. */
export function statementsQuery(
  search: StatementsSearch,
  { window, servers, texts }: { window: Window; servers: Servers; texts: boolean },
): StatementsQuery {
  return {
    from: window.from,
    to: window.to,
    page: search.page ?? 1,
    pageSize: Math.min(search.pageSize ?? 20, mostStatements),
    sort: search.sort ?? defaultSort,
    ...servers,
    ...(search.databaseId && { databaseId: search.databaseId }),
    ...(search.q && texts && { q: search.q }),
    ...(search.only && { only: search.only }),
    ...(search.own && { own: search.own }),
  };
}

/** isFiltered says that an address narrows the list, beyond its window. */
export const isFiltered = ({ instanceId, tag, databaseId, q, only }: StatementsSearch) =>
  [instanceId, tag, databaseId, q, only].some((filter) => filter !== undefined);

export const noFilters: Partial<StatementsSearch> = {
  instanceId: undefined,
  tag: undefined,
  databaseId: undefined,
  q: undefined,
  only: undefined,
};

const days = bucketLengths["1d"];
/** Each size is kept for so long, less than it is: a window does not fall out of it while it is looked at. */
const kept: [BucketSize, number][] = [
  ["1m", 3 * days - bucketLengths["1h"]],
  ["1h", 35 * days - bucketLengths["1d"]],
];

/** bucketSizeFor is the size in which a window can still be drawn: single statements are kept ever more coarsely. */
export function bucketSizeFor({ from, bucketSize }: Pick<Window, "from" | "bucketSize">, now: Date): BucketSize {
  const age = now.getTime() - Date.parse(from);
  const finest = kept.find(([, length]) => age <= length)?.[0] ?? "1d";
  return bucketLengths[finest] > bucketLengths[bucketSize] ? finest : bucketSize;
}

/** shortId is what a statement without a text goes by: its last eight digits, as the dashboard's panel has them. */
export const shortId = (id: string) => `Statement ${id.slice(-8)}`;

/** firstLine is a text's first line that says something. */
export const firstLine = (text: string) => text.split("\n").find((line) => line.trim() !== "") ?? text;

/** titleOf is what a statement is called in a list. */
export const titleOf = ({ id, text }: { id: string; text: string | null }) => (text ? firstLine(text) : shortId(id));

/** timesOf is how much slower a statement is than in the window before: 11.6; null where there is nothing to compare. */
export function timesOf({ meanMs, previous }: Pick<Statement, "meanMs" | "previous">): number | null {
  if (meanMs === null || !previous || previous.meanMs <= 0) return null;
  return meanMs / previous.meanMs;
}

/** unknownBefore is since when a statement's instance is watched, where that is too late to know the window before. */
export const unknownBefore = (
  { previous, watchedSince }: Pick<Statement, "previous" | "watchedSince">,
  previousFrom: string,
) =>
  previous === null && watchedSince !== null && Date.parse(watchedSince) > Date.parse(previousFrom)
    ? watchedSince
    : null;

/** slowest is a statement's longest execution; null where its engine does not tell, and all that is known is the mean. */
export const slowest = ({ calls, meanMs, maxMs }: Pick<Statement, "calls" | "meanMs" | "maxMs">) =>
  calls > 1 && maxMs !== null && meanMs !== null && maxMs <= meanMs * 1.001 ? null : maxMs;

/** serverKey is what PostgreSQL knows a statement by, in its parts: queryid, the role's number, and whether it was called from another. */
export function serverKey(key: string) {
  const [, queryId, role, nested] = /^(-?\d+)\/(\d+)(\/nested)?$/.exec(key) ?? [];
  return queryId && role ? { queryId, role, nested: nested !== undefined } : null;
}
