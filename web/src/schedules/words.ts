// Schedules as people say them.
import type { Schemas } from "../api/client";
import { kindOf } from "../notify/kinds";

export type Schedule = Schemas["Schedule"];
export type Run = Schemas["ScheduleRun"];
export type Recurrence = Schemas["Recurrence"];

export const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

export const dayName = (weekday: string) => weekday.charAt(0).toUpperCase() + weekday.slice(1);

/** lastDay is the day of a month that every month has. */
export const lastDay = -1;

const ordinals = new Intl.PluralRules("en", { type: "ordinal" });
const suffixes: Record<string, string> = { one: "st", two: "nd", few: "rd" };

/** dayOfMonthName is a day of a month: "the 1st", "the last day". */
export const dayOfMonthName = (day: number) =>
  day === lastDay ? "the last day" : `the ${day}${suffixes[ordinals.select(day)] ?? "th"}`;

/** whenText is how often and at what time: "Every Monday at 08:00". */
export function whenText({
  every,
  weekday,
  dayOfMonth,
  at,
}: Pick<Recurrence, "every" | "weekday" | "dayOfMonth" | "at">) {
  if (every === "week") return `Every ${weekday ? dayName(weekday) : "week"} at ${at}`;
  if (every === "month" && dayOfMonth) return `On ${dayOfMonthName(dayOfMonth)} of every month at ${at}`;
  return `Every ${every} at ${at}`;
}

/** lacking says of a day of the month what becomes of it in months that lack it; null where all have it. */
export const lacking = (day: number | null) =>
  day !== null && day > 28 ? "In a month without this day, the report is due on the last day." : null;

type Told = Pick<Schemas["NotificationRule"], "enabled" | "channelIds"> & {
  match: Pick<Schemas["RuleMatch"], "event" | "instanceIds">;
};

/**
 * untold is what can become of a scheduled report without anybody being told, by the rules and channels that there are:
 * "fail", "be missed", "fail or be missed"; null: somebody always is. A rule of some servers does not tell of each
 * report, and some kinds of channels are told of alerts alone.
 */
export function untold(rules: Told[], channels: Pick<Schemas["Channel"], "id" | "kind">[]): string | null {
  const tells = new Set(channels.filter(({ kind }) => !kindOf(kind)?.alertsOnly).map(({ id }) => id));
  const words = { "report.failed": "fail", "schedule.missed": "be missed" };
  const nobody = Object.entries(words).filter(
    ([event]) =>
      !rules.some(
        ({ enabled, channelIds, match }) =>
          enabled &&
          channelIds.some((id) => tells.has(id)) &&
          (!match.event?.length || match.event.some((e) => e === event)) &&
          (event === "schedule.missed" || !match.instanceIds?.length),
      ),
  );
  return nobody.map(([, word]) => word).join(" or ") || null;
}

/**
 * wallTime is what a local time of the server's shows, "2026-11-27T08:00:00-07:00": "Fri, 27 Nov 2026, 08:00". The
 * offset is the server's: the browser may have other rules for the zone.
 */
export const wallTime = (local: string) => inZone(`${local.slice(0, 19)}Z`, "UTC");

/** dueText is a due time by the server's clocks; by the browser's, while a server of the version before answers. */
export const dueText = (local: string | undefined, at: string, timeZone: string) =>
  local ? wallTime(local) : inZone(at, timeZone);

const clocks = new Map<string, Intl.DateTimeFormat>();

/** inZone is an instant by the clocks of a time zone: "Mon, 30 Nov 2026, 08:00". What is no zone is UTC. */
export function inZone(at: string, timeZone: string): string {
  let clock = clocks.get(timeZone);
  if (!clock) {
    clock = clockOf(timeZone) ?? clockOf("UTC");
    if (!clock) return at;
    clocks.set(timeZone, clock);
  }
  return clock.format(new Date(at));
}

function clockOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat(undefined, {
      weekday: "short",
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      timeZone,
    });
  } catch {
    return undefined;
  }
}

/** ownZone is the reader's time zone. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** timeZones are all that the browser knows, and those that are chosen already. */
export const timeZones = (...more: string[]) =>
  [...new Set([...more, ownZone(), "UTC", ...Intl.supportedValuesOf("timeZone")])].sort();

const reasons: Record<string, string> = {
  away: "Muster was not running.",
  next_due: "It waited for room to build until the next report was due.",
  changed: "It was still waiting when the schedule was changed.",
  refused: "Its instances or recipients can no longer be requested.",
  owner_disabled: "Its owner is disabled.",
  owner_erased: "Its owner was erased.",
  owner_not_allowed: "Its owner may no longer request reports.",
};

/** reasonText says why a run was missed, or a schedule is paused. */
export const reasonText = (reason: string) => reasons[reason] ?? reason;
