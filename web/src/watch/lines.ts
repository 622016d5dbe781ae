// The settings of a watch rule as a form has them: a line for each, the last one for every other server.
import type { Schemas } from "../api/client";
import { duration } from "../ui/format";
import { byKey, noTag, words } from "../url/tagWords";

export type Rule = Schemas["WatchRule"];
type Setting = Schemas["WatchRuleSetting"];

/** Line is a setting, filled in. The key stays with it while lines move. */
export type Line = {
  key: number;
  tags: string[];
  enabled: boolean;
  threshold: number | string;
  forSeconds: number | string;
  severity: Schemas["AlertSeverity"];
};

let made = 0;

const lineOf = (s: Setting): Line => ({
  key: ++made,
  tags: words(s.tags),
  enabled: s.enabled,
  threshold: s.threshold,
  forSeconds: s.forSeconds,
  severity: s.severity,
});

/** linesOf are the settings of a rule as lines. */
export const linesOf = (rule: Rule): Line[] => rule.settings.map(lineOf);

/** more are lines with one more for a tag, before the last one. */
export const more = (lines: Line[], rule: Rule): Line[] => [
  ...lines.slice(0, -1),
  { ...lineOf({ ...rule.default, enabled: rule.measured }), tags: [] },
  ...lines.slice(-1),
];

/** moved are lines with one a place higher or lower; the last one stays. */
export function moved(lines: Line[], at: number, by: -1 | 1): Line[] {
  const to = at + by;
  if (to < 0 || to > lines.length - 2) return lines;
  const next = [...lines];
  [next[at], next[to]] = [next[to] as Line, next[at] as Line];
  return next;
}

/** bodyOf are the lines as they are sent. */
export const bodyOf = (lines: Line[]): Schemas["SetWatchRule"] => ({
  settings: lines.map(({ tags, enabled, threshold, forSeconds, severity }) => ({
    tags: byKey(tags),
    enabled,
    threshold: Number(threshold),
    forSeconds: Number(forSeconds),
    severity,
  })),
});

/** isOn says that a rule with these settings watches some servers. */
export const isOn = (settings: readonly { enabled: boolean }[]) => settings.some(({ enabled }) => enabled);

/** sameAs says that lines are the settings of a rule: nothing is to be saved. */
export const sameAs = (lines: Line[], rule: Rule) =>
  JSON.stringify(bodyOf(lines)) === JSON.stringify(bodyOf(linesOf(rule)));

const outside = (value: number | string, least: number, most: number) =>
  value === "" || !Number.isInteger(Number(value)) || Number(value) < least || Number(value) > most;

/** wrong says what is wrong with each line, by its key; empty: nothing is. */
export function wrong(lines: Line[], rule: Rule): Map<number, string> {
  const found = new Map<number, string>();
  const seen = new Set<string>();
  lines.forEach((line, at) => {
    const about = JSON.stringify(line.tags.toSorted());
    if (at < lines.length - 1 && line.tags.length === 0) found.set(line.key, "Enter a tag, as in env:prod.");
    else if (noTag(line.tags) !== null) found.set(line.key, noTag(line.tags) as string);
    else if (at < lines.length - 1 && seen.has(about)) found.set(line.key, "A setting above has the same tags.");
    else if (outside(line.threshold, rule.minThreshold, rule.maxThreshold))
      found.set(line.key, `The threshold must be ${rule.minThreshold} to ${rule.maxThreshold}.`);
    else if (outside(line.forSeconds, 0, 86_400)) found.set(line.key, "The duration must be 0 to 86400 seconds.");
    seen.add(about);
  });
  return found;
}

/** whenText is a setting in words: "above 90 percent for 5 min". */
export function whenText(rule: Pick<Rule, "unit" | "comparison">, s: Setting): string {
  const threshold = rule.unit === null ? "" : `${rule.comparison} ${s.threshold} ${rule.unit}`;
  const lasts = s.forSeconds === 0 ? "" : `for ${duration(s.forSeconds * 1_000)}`;
  return [threshold, lasts].filter(Boolean).join(" ") || "at once";
}

/** restText names the servers of the last setting, of a number of settings. */
export const restText = (settings: number) => (settings > 1 ? "All other servers" : "All servers");

/** byGroup has the rules of each group, in the order of the catalog. */
export function byGroup(rules: Rule[]): [string, Rule[]][] {
  const groups = [...new Set(rules.map(({ group }) => group))];
  return groups.map((group) => [group, rules.filter((rule) => rule.group === group)]);
}
