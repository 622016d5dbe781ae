// What the panel knows of each figure: where it is asked for, what it is by, and how it is written.
import type { Schemas } from "../api/client";
import { partialText } from "../chart/times";
import { count } from "../ui/format";
import { type BucketSize, bucketLengths } from "../window/window";
import { latency, percent, sessions } from "./units";
import type { Figure, Key, Who } from "./who";

/** Tile is the figures that the panel lets one choose among, as they stand on one tile. */
export type Tile = {
  title: string;
  /** Of the five; their answers are alike. */
  path: "/api/v1/metrics/query-performance/contributors";
  /** `series` is the API's name where that is another. */
  figures: { figure: Figure; series?: string; label: string; by: Key[] }[];
  format: (value: number) => string;
};

type Span = { from: string; to: string };

const path = (tile: string) => `/api/v1/metrics/${tile}/contributors` as Tile["path"];
const connected: Key[] = ["instance", "database"];
const waiters: Key[] = [...connected, "event", "statement", "user", "application", "client"];
const queries: Key[] = ["statement", "instance", "database"];

const alerts: Key[] = ["alert", "instance"];

const tiles: Tile[] = [
  {
    title: "Alert history",
    path: "/api/v1/alerts/raised-resolved-history/contributors" as string as Tile["path"],
    figures: [
      { figure: "firing", series: "active", label: "Firing", by: alerts },
      { figure: "resolved", label: "Resolved", by: alerts },
    ],
    format: count,
  },
  {
    title: "Utilization",
    path: path("utilization"),
    figures: [
      { figure: "cpu", label: "CPU", by: ["host"] },
      { figure: "memory", label: "Memory", by: ["host"] },
      { figure: "disk", label: "Disk", by: ["volume"] },
    ],
    format: percent,
  },
  {
    title: "Query performance",
    path: path("query-performance"),
    figures: [
      { figure: "average", label: "Average", by: queries },
      { figure: "maximum", label: "Slowest query (mean)", by: queries },
    ],
    format: latency,
  },
  {
    title: "Wait events",
    path: path("wait-events"),
    figures: [
      { figure: "all", label: "All waits", by: [...waiters, "category"] },
      { figure: "locks", label: "Locks", by: waiters },
      { figure: "lightweightLocks", label: "Lightweight locks", by: waiters },
      { figure: "io", label: "I/O", by: waiters },
      { figure: "clientNetwork", label: "Client / network", by: waiters },
      { figure: "other", label: "Other", by: waiters },
    ],
    format: sessions,
  },
  {
    title: "Connections",
    path: path("connections"),
    figures: [
      { figure: "total", label: "Total", by: connected },
      { figure: "active", label: "Active", by: connected },
      { figure: "idle", label: "Idle", by: connected },
      { figure: "waiting", label: "Waiting", by: connected },
    ],
    format: count,
  },
];

type Shown = { tile: Tile; label: string; series: string; by: Key[] };

const shownAs = new Map(
  tiles.flatMap((tile) =>
    tile.figures.map(({ figure, label, series = figure, by }): [Figure, Shown] => [
      figure,
      { tile, label, series, by },
    ]),
  ),
);

/** shownOf is the tile that a figure stands on, what it is called there and by the API, and what it can be told apart by. */
export const shownOf = (figure: Figure) => shownAs.get(figure) as Shown;

const keyNames: Record<Key, [one: string, many: string]> = {
  host: ["host", "hosts"],
  volume: ["volume", "volumes"],
  instance: ["instance", "instances"],
  database: ["database", "databases"],
  statement: ["statement", "statements"],
  category: ["kind of wait", "kinds of wait"],
  alert: ["alert", "alerts"],
  event: ["wait event", "wait events"],
  user: ["user", "users"],
  application: ["application", "applications"],
  client: ["client", "clients"],
};

/** personal are the keys that are refused to viewers. */
const personal: readonly Key[] = ["user", "application", "client"];

/** offeredKeys are those of a figure that its reader may choose. */
export const offeredKeys = (figure: Figure, seesPeople: boolean): Key[] =>
  shownOf(figure).by.filter((key) => seesPeople || !personal.includes(key));

/** keyName is so many of them in words: "1 other host", "207 other statements". */
export const keyName = (by: Key, many: boolean) => keyNames[by][many ? 1 : 0];

const categories: Record<string, string> = {
  locks: "Locks",
  lightweightLocks: "Lightweight locks",
  io: "I/O",
  clientNetwork: "Client / network",
  other: "Other",
};

export type Named = { title: string; where: string | null; instances: { id: string; name: string }[] };

/** namedOf is what an item is called, where it is, and the servers that a link to it is about: of a host, those on it. */
export function namedOf(
  by: Key,
  item: Schemas["Contributor"],
  fleet: readonly { id: string; name: string; host: string | null }[],
): Named {
  const { instance, database, host } = item;
  const own = instance && !instance.removed ? [instance] : [];
  if (by === "host" || by === "volume") {
    const instances = fleet.filter((i) => i.host !== null && i.host === host);
    const on = instances.map(({ name }) => name).join(", ") || null;
    return by === "host"
      ? { title: host ?? "", where: on, instances }
      : {
          title: item.mount ?? "",
          where: [host, on].filter(Boolean).join(" · "),
          instances,
        };
  }
  if (by === "category")
    return { title: categories[item.category ?? ""] ?? item.category ?? "", where: null, instances: [] };
  if (by === "event" || personal.includes(by))
    return { title: item.name ?? "not reported", where: categories[item.category ?? ""] ?? null, instances: [] };
  if (by === "instance") return { title: instance?.name ?? "No instance", where: null, instances: own };
  if (by === "database") return { title: database?.name ?? "", where: instance?.name ?? null, instances: own };
  const where = [instance?.name, database?.name].filter(Boolean).join(" · ");
  if (by === "alert") return { title: item.alert?.title ?? "", where, instances: [] };
  const { statement } = item;
  if (!statement) return { title: "not reported", where: where || null, instances: own };
  return { title: statement.text ?? `Statement ${statement.id.slice(-8)}`, where, instances: own };
}

/** lengthOf is how much of its bar an item fills: its share, or where it has none its part of the greatest or of a hundred. */
export function lengthOf({ unit, items }: Pick<Schemas["Contributors"], "unit" | "items">, at: number): number {
  const item = items[at];
  if (!item) return 0;
  const greatest = unit === "percent" ? 100 : Math.max(...items.map((i) => i.value));
  const part = item.share ?? (greatest > 0 ? item.value / greatest : 0);
  return Math.min(1, Math.max(0, part));
}

const shown = 10 * bucketLengths["1m"];
const iso = (at: number) => new Date(at).toISOString();

/** soFar says how much of a bucket there was when who is behind it was read, where the bucket was not over. */
export function soFar(asked: Span, generatedAt: string): string | null {
  const [from, to, read] = [asked.from, asked.to, generatedAt].map(Date.parse) as [number, number, number];
  const size = (Object.keys(bucketLengths) as BucketSize[]).find((size) => bucketLengths[size] === to - from);
  return size && read < to ? partialText(from, read, size) : null;
}

/** windowAround is the time itself, or ten minutes around it where it is shorter, none of them ahead. */
export function windowAround(from: string, to: string, now: Date): { from: string; to: string } {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  if (end - start >= shown) return { from, to };
  const last = Math.max(end, Math.min(Math.ceil((start + end + shown) / 2), now.getTime()));
  return { from: iso(last - shown), to: iso(last) };
}

/** movedBy is the same figure so many of its own lengths later. */
export function movedBy(who: Who, steps: number): Who {
  if (!who.from || !who.to) return who;
  const by = steps * (Date.parse(who.to) - Date.parse(who.from));
  return { ...who, from: iso(Date.parse(who.from) + by), to: iso(Date.parse(who.to) + by) };
}

/** notKeptSince is since when that detail is kept, where a refusal says that it was not yet. */
export function notKeptSince(errors: readonly { code: string; params?: Record<string, unknown> }[]): string | null {
  const since = errors.find(({ code }) => code === "detail_not_kept")?.params?.since;
  return typeof since === "string" ? since : null;
}
