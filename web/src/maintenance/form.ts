// Maintenance windows as the form has them, and in words.
import type { Schemas } from "../api/client";
import { ownZone, whenText } from "../schedules/words";
import { duration } from "../ui/format";
import { instantOf, localOf } from "../ui/InstantField";
import { byKey, words } from "../url/tagWords";

export type Window = Schemas["MaintenanceWindow"];

/** WindowForm is a window while it is edited. Times of one that does not recur are in the reader's zone, as fields have them. */
export type WindowForm = {
  name: string;
  tags: string[];
  instanceIds: string[];
  recurs: boolean;
  from: string;
  to: string;
  every: Schemas["Every"];
  weekday: Schemas["Weekday"];
  dayOfMonth: string;
  at: string;
  minutes: number;
  timeZone: string;
};

/** pointers are the API's names of the fields. */
export const pointers: Record<string, keyof WindowForm> = {
  "#/name": "name",
  "#/selector": "tags",
  "#/selector/tags": "tags",
  "#/selector/instanceIds": "instanceIds",
  "#/from": "from",
  "#/to": "to",
  "#/recurrence/weekday": "weekday",
  "#/recurrence/dayOfMonth": "dayOfMonth",
  "#/recurrence/at": "at",
  "#/recurrence/minutes": "minutes",
  "#/timeZone": "timeZone",
};

const hour = 3_600_000;

/** newWindow is the form of a new window: for the next two hours. */
export const newWindow = (now: Date, instanceIds: string[] = []): WindowForm => ({
  name: "",
  tags: [],
  instanceIds,
  recurs: false,
  from: localOf(now.toISOString()),
  to: localOf(new Date(now.getTime() + 2 * hour).toISOString()),
  every: "week",
  weekday: "sunday",
  dayOfMonth: "1",
  at: "02:00",
  minutes: 120,
  timeZone: ownZone(),
});

export const formOf = (w: Window, now: Date): WindowForm => ({
  ...newWindow(now, w.selector.instanceIds ?? []),
  name: w.name,
  tags: words(w.selector.tags ?? {}),
  timeZone: w.timeZone,
  ...(w.recurrence
    ? {
        recurs: true,
        every: w.recurrence.every,
        weekday: w.recurrence.weekday ?? "sunday",
        dayOfMonth: String(w.recurrence.dayOfMonth ?? 1),
        at: w.recurrence.at,
        minutes: w.recurrence.minutes,
      }
    : { from: localOf(w.from ?? undefined), to: localOf(w.to ?? undefined) }),
});

/** bodyOf is what is sent of a form that is complete. */
export function bodyOf(form: WindowForm): Schemas["CreateMaintenanceWindow"] {
  const selector = { tags: byKey(form.tags), instanceIds: form.instanceIds };
  const is = { name: form.name.trim(), selector, timeZone: form.timeZone };
  if (!form.recurs) return { ...is, from: instantOf(form.from) ?? "", to: instantOf(form.to) ?? "" };
  return {
    ...is,
    recurrence: {
      every: form.every,
      ...(form.every === "week" && { weekday: form.weekday }),
      ...(form.every === "month" && { dayOfMonth: Number(form.dayOfMonth) }),
      at: form.at,
      minutes: form.minutes,
    },
  };
}

/** recurs says when a window that recurs begins and how long it lasts; empty for any other. */
export const recurs = (w: Window) =>
  w.recurrence
    ? `${whenText({ dayOfMonth: null, weekday: null, ...w.recurrence })} for ${duration(w.recurrence.minutes * 60_000)}, ${w.timeZone}`
    : "";
