// What stands beside a row of the table: its average over the whole window, and how often a statement ran.
import { api, type Schemas } from "../api/client";
import { latency } from "../dashboard/units";
import { mostStatements } from "../statements/query";
import { count, duration } from "../ui/format";
import { useScope } from "../window/scope";
import { type Answer, activityQuery, type Dimension, type Item, little, type Only } from "./query";

/** Rows of the window that are asked for: an item that is not among them has no average there. */
const compared = 100;

/** identity tells items of two answers by the same dimension apart; a name that both classes of waits have is two. */
export const identity = ({ key, name, waitClass, instance, database, statement }: Item) =>
  [statement?.id, database?.id, instance?.id, waitClass, name ?? key].join("\n");

/** averageIn is what an item has in another answer, as its column shows it. */
export function averageIn({ items, others }: Pick<Answer, "items" | "others">, item: Item): string {
  const found = items.find((one) => identity(one) === identity(item));
  if (found) return little(found.average);
  return others === 0 ? "not seen" : "–";
}

/** averageHeading is the name of that column: "6 h average". */
export const averageHeading = ({ from, to }: { from: string; to: string }) =>
  `${duration(Date.parse(to) - Date.parse(from))} average`;

type Page = Pick<Schemas["StatementPage"], "from" | "to" | "items" | "page">;

/**
 * ran is how often a statement ran in a second and how long that took on average; null where the page does not have it
 * and may lack it. One that is missing on a page of all did not run, or has not finished yet.
 */
export function ran({ from, to, items, page }: Page, id: string): { calls: string; mean: string } | null {
  const found = items.find((one) => one.id === id);
  if (!found && page.totalItems > items.length) return null;
  const perSecond = (found?.calls ?? 0) / ((Date.parse(to) - Date.parse(from)) / 1000);
  return {
    calls: perSecond === 0 ? "0" : perSecond < 100 ? little(perSecond) : count(Math.round(perSecond)),
    mean: found?.meanMs == null ? "–" : latency(found.meanMs),
  };
}

/** useRan is what the statements of an answer cost in the same time, by their ids; undefined while that is not known. */
export function useRan(answer: Answer | undefined) {
  const instanceId = [...new Set(answer?.items.flatMap(({ instance }) => (instance ? [instance.id] : [])))].sort();
  const asked = api.useQuery(
    "get",
    "/api/v1/statements",
    {
      params: {
        query: { from: answer?.from ?? "", to: answer?.to ?? "", instanceId, own: "include", pageSize: mostStatements },
      },
    },
    { enabled: answer?.by === "statement" && instanceId.length > 0 },
  );
  return asked.data;
}

type Whole = { from: string; to: string; bucketSize: Schemas["BucketSize"] };

/** useWhole is the answer for the whole window, beside that for a bucket of it. */
export function useWhole(by: Dimension, whole: Whole | null, { idle, only }: { idle: boolean; only: Only }) {
  const { servers, matchesNothing } = useScope();
  const asking = whole ?? { from: "", to: "", bucketSize: "1m" as const };
  const asked = api.useQuery(
    "get",
    "/api/v1/activity",
    { params: { query: activityQuery(by, asking, { servers, only, idle, limit: compared }) } },
    { enabled: whole !== null && !matchesNothing },
  );
  return whole && asked.data?.by === by ? asked.data : undefined;
}
