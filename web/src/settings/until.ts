import { serverNow } from "../api/clock";

const day = 86_400_000;

const written = (at: number) => new Date(at).toISOString().slice(0, 10);

/** defaultUntil is a quarter ahead, as the field of a date has it. */
export const defaultUntil = (now = serverNow().getTime()) => written(now + 90 * day);

/** A year is the most that an exception may reach ahead, so that each is looked at again. */
export const lastUntil = (now = serverNow().getTime()) => written(now + 365 * day);
export const firstUntil = (now = serverNow().getTime()) => written(now);

/** endOf is the end of a day, UTC: what the API calls until does not belong to the exception's time. Null is no day. */
export function endOf(date: string): string | null {
  const at = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(at) ? null : new Date(at + day).toISOString();
}
