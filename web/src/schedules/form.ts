// What the form of a schedule holds, and what is sent.
import type { Schemas } from "../api/client";
import { type Kind, kinds, reportKinds } from "../reports/kinds";
import type { RequestSearch } from "../reports/requestAgain";
import type { Field, Fill } from "../reports/requestForm";
import type { Recurrence, Schedule } from "./words";

/** ScheduleForm is the form, filled in: a report as the request form has it, and when. */
export type ScheduleForm = {
  name: string;
  kind: Kind;
  /** undefined is all of the organization's. */
  instanceIds: string[] | undefined;
  /** In their place, where a program has set them; the page keeps them as long as no servers are chosen. */
  tags?: Record<string, string[]> | undefined;
  databaseId: string | null;
  window: "7d" | "30d";
  /** Beside the owner. */
  recipientIds: string[];
  every: Schemas["Every"];
  weekday: Schemas["Weekday"];
  /** As a select has it. */
  dayOfMonth: string;
  at: string;
  timeZone: string;
  onlyIfChanged: boolean;
};

/** pointers are the API's names of the fields. */
export const pointers: Record<string, keyof ScheduleForm> = {
  "#/name": "name",
  "#/kind": "kind",
  "#/scope/instanceIds": "instanceIds",
  "#/scope/databaseId": "databaseId",
  "#/scope/window": "window",
  "#/recipientIds": "recipientIds",
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
  databaseId: search.databaseId ?? null,
  window: search.range ?? "7d",
  recipientIds: search.recipientId ?? [],
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
  tags: s.scope.tags,
  databaseId: s.scope.databaseId,
  window: s.scope.window === "30d" ? "30d" : "7d",
  recipientIds: s.recipientIds,
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
  databaseId: form.databaseId,
  span: form.window,
  from: "",
  to: "",
  recipientIds: form.recipientIds,
});

/** withFill is the form after its report was changed in those fields. */
export const withFill = (form: ScheduleForm, fill: Fill): ScheduleForm => ({
  ...form,
  kind: fill.kind,
  instanceIds: fill.instanceIds,
  databaseId: fill.databaseId,
  recipientIds: fill.recipientIds,
  onlyIfChanged: form.onlyIfChanged && reportKinds[fill.kind].comparable,
});

/** shared are the fields that both forms have. */
export const shared: Field[] = ["kind", "instanceIds", "databaseId", "recipientIds"];

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
      ...(form.tags && !form.instanceIds?.length && { tags: form.tags }),
      ...(kind.database && { databaseId: form.databaseId }),
      ...(kind.windowDays !== null && { window: form.window }),
    },
    recipientIds: form.recipientIds,
    ...when,
    onlyIfChanged: form.onlyIfChanged && kind.comparable,
  };
}
