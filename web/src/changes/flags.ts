import type { Change } from "../chart/changes";
import { plural, shortTime } from "../ui/format";

const kinds: Record<string, string> = {
  deploy: "Deployment",
  release: "Release",
  setting: "Setting",
  version: "Version",
  failover: "Failover",
  restart: "Restart",
  registered: "Server added",
  retired: "Server retired",
  maintenance: "Maintenance window",
};

/** kindName is a kind in words; one that this page does not know is a change. */
export const kindName = (kind: string) => kinds[kind] ?? "Change";

/** Of what is joined to one flag, the first of these kinds gives its color. */
const weight = [
  "failover",
  "restart",
  "deploy",
  "release",
  "version",
  "setting",
  "retired",
  "registered",
  "maintenance",
];

/**
 * Flag is where one or more changes are marked: as a part of the window, from 0 to 1. At the end of the window it flies to
 * the left.
 */
export type Flag = { at: number; kind: string; atEnd: boolean; changes: readonly Change[] };

/** What of a flag the pointer finds is so wide, in pixels: flags whose parts would overlap are one. */
const wide = 24;

/** flagsOf are the flags of a window that is drawn so wide, in their order; each begins at its first change. */
export function flagsOf(changes: readonly Change[], from: number, to: number, width: number): Flag[] {
  const within = changes.filter(({ at }) => at >= from && at <= to).sort((a, b) => a.at - b.at);
  const groups: Change[][] = [];
  const place = (at: number) => ((at - from) / (to - from)) * width;
  const atEnd = (at: number) => place(at) > width - wide;
  const left = (at: number) => place(at) - (atEnd(at) ? wide : 0);
  for (const change of within) {
    const last = groups.at(-1);
    const begun = last?.[0];
    if (last && begun && left(change.at) - left(begun.at) < wide) last.push(change);
    else groups.push([change]);
  }
  return groups.map((group) => ({
    at: place(group[0]?.at ?? from) / width,
    atEnd: atEnd(group[0]?.at ?? from),
    kind: weight.find((kind) => group.some((c) => c.kind === kind)) ?? group[0]?.kind ?? "",
    changes: group,
  }));
}

/** Band is a time that something lasts, as parts of the window from 0 to 1. */
export type Band = { id: string; at: number; width: number; text: string };

/** bandsOf are what lasts for a while within a window, cut to it. */
export function bandsOf(changes: readonly Change[], from: number, to: number): Band[] {
  return changes.flatMap(({ id, at, until, text }) => {
    if (until === undefined || until <= from || at >= to) return [];
    const [begin, end] = [Math.max(at, from), Math.min(until, to)];
    return [{ id, at: (begin - from) / (to - from), width: (end - begin) / (to - from), text }];
  });
}

/** changeText is one change in words: for a table, and for whoever hears it. */
export const changeText = ({ kind, text, where, who }: Change) =>
  [`${kindName(kind)}: ${text}`, where, ...(who === null ? [] : [`set by ${who}`])].join(", ");

/** flagName is what a flag is called: its time, and how many changes it stands for. */
export function flagName({ changes }: Flag): string {
  const [first, last] = [changes[0], changes.at(-1)];
  if (!first || !last) return "";
  const began = shortTime(new Date(first.at));
  if (changes.length === 1) return `${kindName(first.kind)}, ${began}`;
  const ended = shortTime(new Date(last.at));
  return `${plural(changes.length, "change")}, ${began === ended ? began : `${began} to ${ended}`}`;
}
