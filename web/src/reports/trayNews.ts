// What of the tray is news to its reader: a report that was being built and no longer is. Remembered for the tab, so
// that a reload neither repeats it nor loses what happened meanwhile.
import { inProgress } from "../api/polling";
import type { Report } from "./status";

/** Memory is what a tab knew of the tray when it last looked. */
export type Memory = {
  /** Reports that were in progress. */
  watched: string[];
  /** Everything that was in the tray. */
  known: string[];
  /** When the newest report ever seen there was requested, in milliseconds. */
  newest: number;
};

export type News = {
  /** What became Ready. */
  done: Report[];
  /** What was in progress and is in the tray no more: it failed, mostly. */
  missing: string[];
};

/**
 * newsOf compares the tray with what was known of it; before null is the first look, which finds nothing new. A report
 * that was requested and Ready between two looks is news, too.
 */
export function newsOf(before: Memory | null, items: Report[]): News & { memory: Memory } {
  const requested = (report: Report) => Date.parse(report.createdAt);
  const memory: Memory = {
    watched: items.filter(inProgress).map((r) => r.id),
    known: items.map((r) => r.id),
    newest: Math.max(before?.newest ?? 0, ...items.map(requested)),
  };
  if (!before) return { done: [], missing: [], memory };
  const done = items.filter(
    (r) =>
      r.status === "Ready" &&
      (before.watched.includes(r.id) || (!before.known.includes(r.id) && requested(r) >= before.newest)),
  );
  const missing = before.watched.filter((id) => !memory.known.includes(id));
  return { done, missing, memory };
}

const place = (member: string) => `muster.tray.${member}`;

function remembered(member: string): Memory | null {
  try {
    return JSON.parse(sessionStorage.getItem(place(member)) ?? "null") as Memory | null;
  } catch {
    return null;
  }
}

const remember = (member: string, memory: Memory) => sessionStorage.setItem(place(member), JSON.stringify(memory));

/** noteTray is newsOf against this tab's memory, which it brings up to date: the same tray again is no news. */
export function noteTray(member: string, items: Report[]): News {
  const { memory, ...news } = newsOf(remembered(member), items);
  remember(member, memory);
  return news;
}

/** watch has the next looks tell what becomes of a report, whether or not the tray has shown it yet. */
export function watch(member: string, id: string) {
  const memory = remembered(member) ?? { watched: [], known: [], newest: 0 };
  if (!memory.watched.includes(id)) remember(member, { ...memory, watched: [...memory.watched, id] });
}

/** watching says that something is waited for, be it in the tray or not there yet. */
export const watching = (member: string) => (remembered(member)?.watched.length ?? 0) > 0;
