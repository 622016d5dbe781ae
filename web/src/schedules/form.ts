// What the form of a schedule holds, and what is sent.
import type { Schemas } from "../api/client";
import { type Kind, kinds, reportKinds } from "../reports/kinds";
import type { RequestSearch } from "../reports/requestAgain";
import type { Field, Fill } from "../reports/requestForm";
import { byKey, words } from "../url/tagWords";
import type { Recurrence, Schedule } from "./words";

/** ScheduleForm is the form, filled in: a report as the request form has it, and when. */
export type ScheduleForm = {
  name: string;
  kind: Kind;
  /** undefined is all of the organization's. */
  instanceIds: string[] | undefined;
  /** In their place: the servers that have these tags at the due time. */
  tags?: string[] | undefined;
  databaseId: string | null;
  window: Schemas["ScheduleWindow"];
  /** Beside the owner. */
  recipientIds: string[];
  /** Teams whose members are recipients; with perTeam, those that get a report of their own. None is then all of them. */
  teamIds: string[];
  perTeam: boolean;
  every: Schemas["Every"];
  weekday: Schemas["Weekday"];
  /** As a select has it. */
  dayOfMonth: string;
  at: string;
  timeZone: string;
  onlyIfChanged: boolean;
};

const windows: Schemas["ScheduleWindow"][] = ["7d", "30d", "day", "month"];

/** pointers are the API's names of the fields. */
export const pointers: Record<string, keyof ScheduleForm> = {
  "#/name": "name",
  "#/kind": "kind",
  "#/scope/instanceIds": "instanceIds",
  "#/scope/tags": "tags",
  "#/scope/databaseId": "databaseId",
  "#/scope/window": "window",
  "#/recipientIds": "recipientIds",
  "#/teamIds": "teamIds",
  "#/perTeam": "perTeam",
  "#/every": "every",
  "#/weekday": "weekday",
  "#/dayOfMonth": "dayOfMonth",
  "#/at": "at",
  "#/timeZone": "timeZone",
  "#/onlyIfChanged": "onlyIfChanged",
};

/** newForm is the form of a new schedule, of the report that an address of the request form says. */
export const newForm = (search: RequestSearch, timeZone: string): ScheduleForm => ({
  name: "",
  kind: search.kind ?? "Security",
  instanceIds: search.instanceId?.length ? search.instanceId : undefined,
  tags: search.instanceId?.length ? undefined : search.tag,
  databaseId: search.databaseId ?? null,
  window: search.range ?? "7d",
  recipientIds: search.recipientId ?? [],
  teamIds: search.teamId ?? [],
  perTeam: false,
  every: "week",
  weekday: "monday",
  dayOfMonth: "1",
  at: "08:00",
  timeZone,
  onlyIfChanged: false,
});

/** formOf is a schedule as the form has it. */
export const formOf = (s: Schedule): ScheduleForm => ({
  name: s.name,
  kind: kinds.find((k) => k === s.kind) ?? "Security",
  instanceIds: s.scope.instanceIds.length > 0 ? s.scope.instanceIds : undefined,
  tags: s.scope.tags && Object.keys(s.scope.tags).length > 0 ? words(s.scope.tags) : undefined,
  databaseId: s.scope.databaseId,
  window: windows.find((w) => w === s.scope.window) ?? "7d",
  recipientIds: s.recipientIds,
  teamIds: s.teamIds,
  perTeam: s.perTeam,
  every: s.every,
  weekday: s.weekday ?? "monday",
  dayOfMonth: String(s.dayOfMonth ?? 1),
  at: s.at,
  timeZone: s.timeZone,
  onlyIfChanged: s.onlyIfChanged,
});

/** fillOf is the report of a schedule as the request form has it, whose fields are used here too. */
export const fillOf = (form: ScheduleForm): Fill => ({
  kind: form.kind,
  instanceIds: form.instanceIds,
  tags: form.tags,
  databaseId: form.databaseId,
  span: form.window === "30d" ? "30d" : "7d",
  from: "",
  to: "",
  recipientIds: form.recipientIds,
});

/** withFill is the form after its report was changed in those fields. */
export const withFill = (form: ScheduleForm, fill: Fill): ScheduleForm => ({
  ...form,
  kind: fill.kind,
  instanceIds: fill.instanceIds,
  tags: reportKinds[fill.kind].oneInstance ? undefined : fill.tags,
  databaseId: fill.databaseId,
  recipientIds: fill.recipientIds,
  perTeam: form.perTeam && !reportKinds[fill.kind].oneInstance,
  onlyIfChanged: form.onlyIfChanged && reportKinds[fill.kind].comparable,
});

/** shared are the fields that both forms have. */
export const shared: Field[] = ["kind", "instanceIds", "tags", "databaseId", "recipientIds"];

/** recurrenceOf is when a report is due; null as long as that is not all there. */
export function recurrenceOf(form: ScheduleForm): Recurrence | null {
  if (form.at === "" || form.timeZone === "") return null;
  return {
    every: form.every,
    ...(form.every === "week" && { weekday: form.weekday }),
    ...(form.every === "month" && { dayOfMonth: Number(form.dayOfMonth) }),
    at: form.at,
    timeZone: form.timeZone,
  };
}

/** bodyOf is what is sent of a form that is complete; a schedule keeps its kind. */
export function bodyOf(form: ScheduleForm): Omit<Schemas["CreateSchedule"], "kind" | "enabled"> {
  const kind = reportKinds[form.kind];
  const when = recurrenceOf(form) ?? { every: form.every, at: form.at, timeZone: form.timeZone };
  return {
    name: form.name.trim(),
    scope: {
      instanceIds: form.instanceIds ?? [],
      ...(form.tags && { tags: byKey(form.tags) }),
      ...(kind.database && { databaseId: form.databaseId }),
      ...(kind.windowDays !== null && kind.windowDays > 1 && { window: form.window }),
    },
    recipientIds: form.recipientIds,
    teamIds: form.teamIds,
    perTeam: form.perTeam,
    ...when,
    onlyIfChanged: form.onlyIfChanged && kind.comparable && !form.perTeam,
  };
}
