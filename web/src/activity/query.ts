// What the address of the activity page asks for, and how what is answered is called and colored.
import type { Schemas } from "../api/client";
import type { paths } from "../api/schema";
import { palette, seriesColors } from "../chart/palette";
import type { ChartSeries } from "../chart/types";
import { sessions } from "../dashboard/units";
import { firstLine, shortId } from "../statements/query";
import { plural } from "../ui/format";
import type { activitySearch, dimensions } from "../url/schemas";
import type { Servers } from "../window/query";

export type Dimension = (typeof dimensions)[number];
export type ActivitySearch = ReturnType<typeof activitySearch>;
export type ActivityQuery = paths["/api/v1/activity"]["get"]["parameters"]["query"];
export type Answer = Schemas["Activity"];
export type Item = Schemas["ActivityItem"];
type Span = { from: string; to: string };
type Asking = Span & { bucketSize: Schemas["BucketSize"] };

/** What each dimension is called: one of it, many, and how its tab reads. */
export const dimensionNames: Record<Dimension, { one: string; many: string; tab: string }> = {
  waitClass: { one: "wait class", many: "wait classes", tab: "Wait class" },
  waitEvent: { one: "wait event", many: "wait events", tab: "Wait event" },
  statement: { one: "statement", many: "statements", tab: "Statement" },
  user: { one: "user", many: "users", tab: "User" },
  application: { one: "application", many: "applications", tab: "Application" },
  client: { one: "client", many: "clients", tab: "Client" },
  database: { one: "database", many: "databases", tab: "Database" },
  instance: { one: "server", many: "servers", tab: "Server" },
  state: { one: "state", many: "states", tab: "State" },
};

/** What the table can be by, as its tabs have it. */
export const tabled: readonly Dimension[] = [
  ...(["statement", "waitEvent", "user", "application", "client", "database", "instance", "state"] as const),
];

/** What stands beside the table, but what the table itself is by. */
export const beside: readonly Dimension[] = [
  ...(["waitClass", "waitEvent", "application", "user", "client", "database", "instance"] as const),
];

/** Whose sessions they are: hidden from viewers, and only there where the organization keeps it. */
export const personal: readonly Dimension[] = ["user", "application", "client"];

/** offered are the dimensions that a reader may choose, the chart's first one first. */
export const offered = (all: readonly Dimension[], seesPeople: boolean): Dimension[] =>
  all.filter((dimension) => seesPeople || !personal.includes(dimension));

/** Series of a chart, beside that of the others: as many as there are hues. */
export const charted = 6;
/** Rows of the table, and of each of the short ones beside it. */
export const listed = 10;
export const listedBeside = 3;

const active: Schemas["ActivityState"][] = ["cpu", "waiting", "other"];

/** What the page can be narrowed to by a click on a name, beside servers: these members of the address. */
export const narrowing = ["state", "user", "application", "client"] as const;
export type Narrowing = (typeof narrowing)[number];
export type Only = Pick<ActivityQuery, Narrowing>;

/** onlyOf is what an address narrows the page to, as far as its reader may. */
export const onlyOf = (search: Pick<ActivitySearch, Narrowing>, seesPeople: boolean): Only =>
  Object.fromEntries(
    narrowing
      .filter((by) => seesPeople || !personal.includes(by))
      .flatMap((by) => (search[by]?.length ? [[by, search[by]]] : [])),
  );

/** narrowedBy is what a click on an item narrows the page by; null where it has no name. */
export function narrowedBy(by: Dimension, { known, key, name }: Item): { by: Narrowing; value: string } | null {
  if (by === "state") return { by, value: key };
  const narrows = narrowing.find((one) => one === by);
  return narrows && known && name ? { by: narrows, value: name } : null;
}

/** activityQuery asks what sessions did, without idle ones unless these are wanted. */
export const activityQuery = (
  by: Dimension,
  { from, to, bucketSize }: Asking,
  { servers, only = {}, idle, limit }: { servers: Servers; only?: Only; idle: boolean; limit: number },
): ActivityQuery => ({ from, to, bucketSize, by, limit, ...(!idle && { state: active }), ...only, ...servers });

const classNames: Record<string, string> = {
  cpu: "CPU",
  locks: "Locks",
  lightweightLocks: "Lightweight locks",
  io: "I/O",
  clientNetwork: "Client / network",
  other: "Other",
};

const stateNames: Record<string, string> = {
  cpu: "On CPU",
  waiting: "Waiting",
  idle: "Idle",
  idleInTransaction: "Idle in transaction",
  other: "Other",
};

const classColors: Record<string, string> = {
  cpu: palette.onCpu,
  locks: palette.locks,
  lightweightLocks: palette.lightweightLocks,
  io: palette.io,
  clientNetwork: palette.clientNetwork,
  other: palette.other,
};

const stateColors: Record<string, string> = {
  cpu: palette.onCpu,
  waiting: seriesColors.red,
  idleInTransaction: seriesColors.gold,
  idle: seriesColors.blue,
  other: seriesColors.grey,
};

/** By rank: the others have grey. */
const ranked = [
  seriesColors.blue,
  seriesColors.orange,
  seriesColors.teal,
  seriesColors.purple,
  seriesColors.red,
  seriesColors.gold,
];

/** stateName is what a state of sessions is called. */
export const stateName = (key: string) => stateNames[key] ?? key;

/** className is what a class of waits is called. */
export const className = (key: string) => classNames[key] ?? key;

/** classColor is the color of a class of waits, as on the dashboard. */
export const classColor = (key: string) => classColors[key] ?? palette.other;

/** nameOf is what an item is called. What nobody reported is said so. */
export function nameOf(by: Dimension, item: Item): string {
  const { known, key, name, waitClass, instance, database, statement } = item;
  switch (by) {
    case "state":
      return stateName(key);
    case "waitClass":
      return className(waitClass ?? key);
    case "waitEvent":
      if (name) return name;
      return waitClass === "cpu" ? "on CPU" : `${className(waitClass ?? key)}, event not reported`;
    case "instance":
      return instance?.name ?? "not reported";
    case "database":
      return database?.name ?? "not reported";
    case "statement":
      return statement
        ? statement.text
          ? firstLine(statement.text).trim()
          : shortId(statement.id)
        : "none, or not reported";
    default:
      return (known ? name : null) ?? "not reported";
  }
}

/** whereOf is the server, or the server and the database, of an item; null where its name says it, or nothing does. */
export function whereOf(by: Dimension, { instance, database }: Item): string | null {
  if (by !== "statement" && by !== "database") return null;
  const where = [instance?.name, by === "statement" && database?.name].filter(Boolean).join(" · ");
  return where || null;
}

/** In a stack, from the bottom up: as on the dashboard's tile, with the CPU below. */
const stackOrder: Partial<Record<Dimension, string[]>> = {
  waitClass: Object.keys(classNames),
  state: Object.keys(stateNames),
};

/** colorsOf is the color of each series of an answer, by its key: of classes and states always the same, else by rank. */
export function colorsOf({ by, items }: Pick<Answer, "by" | "items">): Record<string, string> {
  const fixed = by === "waitClass" ? classColors : by === "state" ? stateColors : null;
  return Object.fromEntries(items.map(({ key }, at) => [key, fixed?.[key] ?? ranked[at] ?? palette.other]));
}

/** A label of the legend is cut off here; the table has the whole name. */
const longest = 36;

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1).trimEnd()}…` : text);

/** seriesOf are the series of a chart, the first at the bottom; those of a fixed order in it, the others on top. */
export function seriesOf({ by, items, others, series }: Pick<Answer, "by" | "items" | "others" | "series">) {
  const colors = colorsOf({ by, items });
  const order = stackOrder[by];
  const inOrder = order ? [...items].sort((a, b) => order.indexOf(a.key) - order.indexOf(b.key)) : items;
  const drawn: ChartSeries[] = inOrder.map((item) => ({
    key: item.key,
    label: cut(nameOf(by, item)),
    color: colors[item.key] ?? palette.other,
    values: series[item.key] ?? [],
  }));
  const rest = series.others;
  if (!rest) return drawn;
  const label = `${others} ${others === 1 ? `other ${dimensionNames[by].one}` : `other ${dimensionNames[by].many}`}`;
  return [...drawn, { key: "others", label, color: palette.other, values: rest }];
}

/** Row is an item as a table has it. */
export type Row = {
  item: Item;
  name: string;
  where: string | null;
  average: string;
  share: number | null;
  /** Of its bar, from 0 to 1: its part of the greatest. */
  length: number;
};

/** rowsOf are the items of an answer, the greatest first. */
export function rowsOf({ by, items }: Pick<Answer, "by" | "items">): Row[] {
  const greatest = Math.max(0, ...items.map(({ average }) => average));
  return items.map((item) => ({
    item,
    name: nameOf(by, item),
    where: whereOf(by, item),
    average: little(item.average),
    share: item.share,
    length: greatest > 0 ? Math.min(1, Math.max(0, item.average / greatest)) : 0,
  }));
}

/** othersOf is what is not among the items: how many they are, and their average; null where there are none. */
export function othersOf({ items, others, average }: Pick<Answer, "items" | "others" | "average">) {
  if (others === 0 || average === null) return null;
  const left = Math.max(0, average - items.reduce((sum, item) => sum + item.average, 0));
  return { count: others, average: little(left), share: average > 0 ? left / average : null };
}

/** partsOf is what an item's bar is made of, each a part of the whole bar; null where its classes are not known. */
export function partsOf({ average, byClass }: Pick<Item, "average" | "byClass">) {
  if (!byClass || average <= 0) return null;
  return Object.keys(classNames).flatMap((key) => {
    const part = (byClass[key] ?? 0) / average;
    return part > 0 ? [{ key, part, color: classColor(key) }] : [];
  });
}

const tenths = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** little is an average number of sessions as a column has it; what is there and would read 0.0 is "<0.1". */
export const little = (value: number) => (value > 0 && value < 0.05 ? `<${tenths.format(0.1)}` : tenths.format(value));

/** Above so many times the highest value a line of the cores would press all else to the base. */
const fits = 3;

/** coreLine is whether the cores are drawn as a line: they are of all hosts in scope, and about as high as the figures. */
export function coreLine({ cores, series }: Pick<Answer, "cores" | "series">, covered: boolean): number | null {
  if (cores === null || !covered) return null;
  const columns = Object.values(series);
  const top = Math.max(
    0,
    ...(columns[0] ?? []).map((_, at) => columns.reduce((sum, values) => sum + (values[at] ?? 0), 0)),
  );
  return top > 0 && cores <= fits * top ? cores : null;
}

/** coresText is of how many cores is known, and that this is not all where it is not. */
export function coresText(cores: number, hosts: number, covered: boolean): string {
  if (covered) return `${plural(cores, "core")} on ${plural(hosts, "host")}.`;
  return `${plural(cores, "core")} on ${plural(hosts, "host")}. The other hosts here report no number of cores.`;
}

/** coversHosts is whether so many hosts are all that the servers run on; a server whose host is not known counts as one more. */
export function coversHosts(counted: number, instances: readonly { host: string | null; status: string }[]): boolean {
  const active = instances.filter(({ status }) => status !== "inactive");
  const hosts = new Set(active.flatMap(({ host }) => (host === null ? [] : [host])));
  return active.every(({ host }) => host !== null) && hosts.size === counted;
}

/** comparedWith is how a figure stands to the whole window's, in words: "1.8 times the average of the window, 8.8". */
export function comparedWith(then: number, whole: number | null): string | null {
  if (whole === null || whole <= 0) return null;
  const times = then / whole;
  const of = `the average of the window, ${little(whole)}`;
  if (times > 0.9 && times < 1.1) return `about ${of}`;
  return times >= 1.1 ? `${sessions(times)} times ${of}` : `less than ${of}`;
}

const does: Record<string, string> = {
  cpu: "are on the CPU",
  locks: "wait for locks",
  lightweightLocks: "wait for lightweight locks",
  io: "wait for I/O",
  clientNetwork: "wait for their client or the network",
};

/** mostly says what more than half of the sessions of a bucket do, of an answer by wait class; null where no class has so many. */
export function mostly({ by, bucketStarts, series }: Pick<Answer, "by" | "bucketStarts" | "series">, from: string) {
  const at = bucketStarts.findIndex((start) => Date.parse(start) === Date.parse(from));
  if (by !== "waitClass" || at < 0) return null;
  const values = Object.entries(series).map(([key, of]) => ({ key, value: of[at] ?? 0 }));
  const all = values.reduce((sum, { value }) => sum + value, 0);
  const most = values.find(({ value }) => value > all / 2);
  const doing = most && does[most.key];
  return doing ? `More than half of them ${doing}.` : null;
}

/** pickedOf is the time that an address names beside its window; null is the whole window. */
export const pickedOf = ({ pickedFrom, pickedTo }: Pick<ActivitySearch, "pickedFrom" | "pickedTo">): Span | null =>
  pickedFrom && pickedTo ? { from: pickedFrom, to: pickedTo } : null;
