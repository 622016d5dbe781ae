const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** What a mute can be asked for: a length, a time that is then given, or for good. */
export const muteLengths = ["good", "1h", "4h", "1d", "7d", "time"] as const;
export type MuteLength = (typeof muteLengths)[number];

export const muteLengthNames: Record<MuteLength, string> = {
  good: "Until it is unmuted",
  "1h": "For 1 hour",
  "4h": "For 4 hours",
  "1d": "For 1 day",
  "7d": "For 7 days",
  time: "Until a time",
};

const lengths: Partial<Record<MuteLength, number>> = { "1h": hour, "4h": 4 * hour, "1d": day, "7d": 7 * day };

/** The furthest that a mute may end ahead: the API's rule. */
const furthest = 366 * day;

/** untilOf is when a mute ends, as the API takes it; undefined is for good, null a time that is none or cannot be. */
export function untilOf(length: MuteLength, time: string, now: Date): string | undefined | null {
  if (length === "good") return undefined;
  const ahead = lengths[length];
  if (ahead !== undefined) return new Date(now.getTime() + ahead).toISOString();
  const at = Date.parse(time); // a local time, as its field has it
  if (Number.isNaN(at) || at <= now.getTime() || at > now.getTime() + furthest) return null;
  return new Date(at).toISOString();
}

/** fieldTime is an instant as a field for local times has it: "2026-11-21T08:00". */
export function fieldTime(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * minute).toISOString().slice(0, 16);
}

/** tomorrowMorning is where the field for a time begins: eight o'clock of the next day, local time. */
export function tomorrowMorning(now: Date): string {
  const at = new Date(now);
  at.setDate(at.getDate() + 1);
  at.setHours(8, 0, 0, 0);
  return fieldTime(at);
}
