// What the request form holds, how it stands in the address, what is wrong with it, and what is sent.
import type { Schemas } from "../api/client";
import { count, duration } from "../ui/format";
import { byKey, noTag } from "../url/tagWords";
import { type Kind, reportKinds } from "./kinds";
import type { RequestSearch } from "./requestAgain";

/** Of a daily kind the preset is 1d, and no address names it. */
export type Span = "1d" | "7d" | "30d" | "custom";

/** presetOf is a preset that a kind has: the given one, or its own. */
const presetOf = (kind: Kind, span: "7d" | "30d" = "30d"): Span => (reportKinds[kind].windowDays === 1 ? "1d" : span);

/** Fill is the form, filled in. */
export type Fill = {
  kind: Kind;
  /** undefined is all of the organization's; an empty list is a choice not made yet. A report of one instance has one. */
  instanceIds: string[] | undefined;
  /** In their place: the servers that have these tags. */
  tags?: string[] | undefined;
  databaseId: string | null;
  span: Span;
  /** Of a custom span, in UTC, as `datetime-local` inputs write it: "2026-11-20T11:37"; "" is not given. */
  from: string;
  to: string;
  /** Beside whoever asks. */
  recipientIds: string[];
  /** Teams whose members are recipients, too. */
  teamIds?: string[];
};

export type Field = "kind" | "instanceIds" | "tags" | "databaseId" | "from" | "to" | "recipientIds" | "teamIds";
export type FieldTexts = Partial<Record<Field, string>>;

/** The fields in the order in which they stand: the first wrong one gets the focus. */
export const fieldOrder: Field[] = [
  "kind",
  "instanceIds",
  "tags",
  "databaseId",
  "from",
  "to",
  "recipientIds",
  "teamIds",
];

export const maxInstances = 100;
export const maxRecipients = 20;
const minute = 60_000;
const day = 24 * 60 * minute;
const maxAhead = 5 * minute;
const presetDays = { "1d": 1, "7d": 7, "30d": 30 };

/** fieldId is the id of a field's input, to which the focus goes. */
export const fieldId = (field: Field) => `request-${field}`;

const inputText = (instant: string | undefined) => (instant ? instant.slice(0, 16) : "");

/** instantOf reads an input's text as UTC; null where it is not one. */
export function instantOf(text: string): Date | null {
  const at = new Date(`${text}Z`);
  return text === "" || Number.isNaN(at.getTime()) ? null : at;
}

/** fillOf reads the form from its address. Without a kind it is a scorecard, without a window the past 30 days. */
export function fillOf(search: RequestSearch): Fill {
  const custom = search.range === undefined && (search.from !== undefined || search.to !== undefined);
  const kind = search.kind ?? "InstanceScorecard";
  const { database, windowDays, oneInstance } = reportKinds[kind];
  const windowed = windowDays !== null;
  return {
    kind,
    instanceIds: search.instanceId,
    ...(search.tag && !search.instanceId && !oneInstance && { tags: search.tag }),
    databaseId: (database && search.databaseId) || null,
    span: windowed && custom ? "custom" : presetOf(kind, (windowed && search.range) || "30d"),
    from: windowed && custom ? inputText(search.from) : "",
    to: windowed && custom ? inputText(search.to) : "",
    recipientIds: search.recipientId ?? [],
    ...(search.teamId?.length && { teamIds: search.teamId }),
  };
}

/** searchOf is the address of a filled-in form: what fillOf reads back as the same. */
export function searchOf(fill: Fill): RequestSearch {
  const { kind, instanceIds, tags, databaseId, span, recipientIds, teamIds } = fill;
  const { oneInstance, database, windowDays } = reportKinds[kind];
  const windowed = windowDays !== null;
  const from = instantOf(fill.from)?.toISOString();
  const to = instantOf(fill.to)?.toISOString();
  return {
    kind,
    ...(instanceIds && (instanceIds.length > 0 || !oneInstance) && { instanceId: instanceIds }),
    ...(tags && !oneInstance && { tag: tags }),
    ...(database && databaseId && { databaseId }),
    ...(windowed && span !== "custom" && span !== "1d" && { range: span }),
    ...(windowed && span === "custom" && { ...(from && { from }), ...(to && { to }) }),
    ...(recipientIds.length > 0 && { recipientId: recipientIds }),
    ...(teamIds?.length && { teamId: teamIds }),
  };
}

/** leftOut names what an address says that its kind of report does not have. */
export function leftOut(search: RequestSearch): string[] {
  const kept = searchOf(fillOf(search));
  return (["tag", "databaseId", "range", "from", "to"] as const).filter(
    (name) => search[name] !== undefined && kept[name] === undefined,
  );
}

/** withKind turns a form to another kind of report and takes along what that kind has, too. */
export function withKind(fill: Fill, kind: Kind): Fill {
  if (kind === fill.kind) return fill;
  const instanceIds = reportKinds[kind].oneInstance && fill.instanceIds?.length !== 1 ? undefined : fill.instanceIds;
  const { tags, ...rest } = fill;
  const span = fill.span === "custom" ? fill.span : presetOf(kind, fill.span === "1d" ? "30d" : fill.span);
  return {
    ...rest,
    ...(tags && !reportKinds[kind].oneInstance && { tags }),
    kind,
    instanceIds,
    databaseId: null,
    span,
  };
}

/** withSpan chooses a window; a custom one begins as the preset that was chosen before, ended now. */
export function withSpan(fill: Fill, span: Span, now: Date): Fill {
  if (span !== "custom" || fill.span === "custom") return { ...fill, span };
  const { from, to } = windowOf(fill, now) ?? { from: now, to: now };
  return { ...fill, span, from: inputText(from.toISOString()), to: inputText(to.toISOString()) };
}

/** windowOf is a report's window, presets ending now; null as long as a custom one lacks an end. */
export function windowOf(fill: Fill, now: Date): { from: Date; to: Date } | null {
  if (fill.span !== "custom") {
    return { from: new Date(now.getTime() - presetDays[fill.span] * day), to: now };
  }
  const from = instantOf(fill.from);
  const to = instantOf(fill.to);
  return from && to ? { from, to } : null;
}

/** wrongWith says of each field what is wrong with it, as the server would: domain/report/scope.go. */
export function wrongWith(fill: Fill, requester: string, now: Date): FieldTexts {
  const wrong: FieldTexts = {};
  const chosen = fill.instanceIds?.length ?? 0;
  const { oneInstance, windowDays } = reportKinds[fill.kind];
  if (windowDays !== null) Object.assign(wrong, wrongWindow(fill, windowDays, now));
  if (oneInstance && chosen > 1) {
    wrong.instanceIds = `The address contains ${count(chosen)} instances. This report covers one: choose it.`;
  } else if (chosen > maxInstances) {
    wrong.instanceIds = `${count(chosen)} instances are selected; a report can cover at most ${maxInstances}. To cover more, choose all.`;
  }
  const noSuch = noTag(fill.tags ?? []);
  if (noSuch) wrong.tags = noSuch;
  const recipients = recipientsOf(fill, requester).length;
  if (recipients > maxRecipients) {
    wrong.recipientIds = `You chose ${recipients} recipients including yourself; a report can have at most ${maxRecipients}.`;
  }
  return wrong;
}

function wrongWindow(fill: Fill, windowDays: number, now: Date): FieldTexts {
  const window = fill.span === "custom" ? windowOf(fill, now) : null;
  if (!window) return {};
  const { from, to } = window;
  const wrong: FieldTexts = {};
  if (from > now) wrong.from = "From is in the future.";
  const width = to.getTime() - from.getTime();
  if (to.getTime() > now.getTime() + maxAhead) wrong.to = "To is in the future. Choose now or earlier.";
  else if (width < minute) wrong.to = "To must be after From.";
  else if (width > windowDays * day)
    wrong.to = `This report covers at most ${windowDays} days; this is ${inDays(width)}.`;
  return wrong;
}

function inDays(width: number): string {
  const rest = width % day;
  return `${count(Math.floor(width / day))} days${rest > 0 ? ` and ${duration(rest)}` : ""}`;
}

/** missing says what is still to be chosen before the form can be sent; null is nothing. */
export function missing(fill: Fill): string | null {
  const { oneInstance, windowDays } = reportKinds[fill.kind];
  if (oneInstance && !fill.instanceIds?.length) return "Choose an instance.";
  if (fill.tags?.length === 0) return "Enter at least one tag, or choose all instances.";
  if (fill.instanceIds?.length === 0) return "Choose at least one instance, or all of them.";
  return windowDays !== null && fill.span === "custom" && !(instantOf(fill.from) && instantOf(fill.to))
    ? "Enter both From and To."
    : null;
}

/** recipientsOf are all who get the report, whoever asks first, each once. */
export const recipientsOf = (fill: Fill, requester: string) => [...new Set([requester, ...fill.recipientIds])];

/** bodyOf is what is sent. */
export function bodyOf(fill: Fill, now: Date): Schemas["CreateReport"] {
  const window = reportKinds[fill.kind].windowDays === null ? null : windowOf(fill, now);
  return {
    kind: fill.kind,
    scope: {
      instanceIds: fill.instanceIds ?? [],
      ...(fill.tags && { tags: byKey(fill.tags) }),
      ...(fill.databaseId && { databaseId: fill.databaseId }),
      ...(window && { from: window.from.toISOString(), to: window.to.toISOString() }),
    },
    recipientIds: fill.recipientIds,
    ...(fill.teamIds?.length && { teamIds: fill.teamIds }),
  };
}
