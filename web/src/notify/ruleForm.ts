// What the form of a notification rule holds, and what is sent.
import type { Schemas } from "../api/client";
import { notifiedEvents } from "../url/schemas";
import { byKey, words } from "../url/tagWords";
import type { Event, Match, Rule } from "./words";

/** RuleForm is the form, filled in; numbers are as a select has them. */
export type RuleForm = {
  name: string;
  severity: Schemas["AlertSeverity"][];
  engine: Schemas["Engine"][];
  instanceIds: string[];
  nameContains: string;
  tags: string[];
  teamIds: string[];
  event: Event[];
  channelIds: string[];
  groupSeconds: string;
  repeatMinutes: string;
  isQuiet: boolean;
  quietFrom: string;
  quietTo: string;
  quietZone: string;
  exceptCritical: boolean;
};

/** pointers are the API's names of the fields. */
export const pointers: Record<string, keyof RuleForm> = {
  "#/name": "name",
  "#/match/severity": "severity",
  "#/match/engine": "engine",
  "#/match/instanceIds": "instanceIds",
  "#/match/nameContains": "nameContains",
  "#/match/tags": "tags",
  "#/match/teamIds": "teamIds",
  "#/match/event": "event",
  "#/channelIds": "channelIds",
  "#/groupSeconds": "groupSeconds",
  "#/repeatMinutes": "repeatMinutes",
  "#/quiet/from": "quietFrom",
  "#/quiet/to": "quietTo",
  "#/quiet/timeZone": "quietZone",
};

/** newRule is the form of a rule that is begun: critical alerts, raised and resolved. */
export const newRule = (timeZone: string): RuleForm => ({
  name: "",
  severity: ["critical"],
  engine: [],
  instanceIds: [],
  nameContains: "",
  tags: [],
  teamIds: [],
  event: ["alert.raised", "alert.resolved"],
  channelIds: [],
  groupSeconds: "10",
  repeatMinutes: "0",
  isQuiet: false,
  quietFrom: "22:00",
  quietTo: "07:00",
  quietZone: timeZone,
  exceptCritical: true,
});

/** formOf is a rule as the form has it. */
export const formOf = (rule: Rule, timeZone: string): RuleForm => ({
  name: rule.name,
  severity: rule.match.severity,
  engine: rule.match.engine,
  instanceIds: rule.match.instanceIds,
  nameContains: rule.match.nameContains ?? "",
  tags: words(rule.match.tags ?? {}),
  teamIds: rule.match.teamIds ?? [],
  // One that names no event has all, as one that was made by a program may.
  event: rule.match.event.length > 0 ? rule.match.event : [...notifiedEvents],
  channelIds: rule.channelIds,
  groupSeconds: String(rule.groupSeconds),
  repeatMinutes: String(rule.repeatMinutes),
  isQuiet: rule.quiet !== null,
  quietFrom: rule.quiet?.from ?? "22:00",
  quietTo: rule.quiet?.to ?? "07:00",
  quietZone: rule.quiet?.timeZone ?? timeZone,
  exceptCritical: rule.quiet?.exceptCritical ?? true,
});

/** aboutServers says that a rule tells of alerts, findings or servers: of these alone severity, engine and name are asked. */
export const aboutServers = (event: Event[]) =>
  event.length === 0 || event.some((e) => /^(alert|finding|instance)\./.test(e));

/** matchOf is what a rule matches; what is asked only of what is about one server is left out where it tells of no such thing. */
export function matchOf({ severity, engine, instanceIds, nameContains, tags, teamIds, event }: RuleForm): Match {
  const alerts = aboutServers(event);
  return {
    severity: alerts ? severity : [],
    engine: alerts ? engine : [],
    instanceIds,
    nameContains: (alerts && nameContains.trim()) || null,
    ...(alerts && tags.length > 0 && { tags: byKey(tags) }),
    ...(alerts && teamIds.length > 0 && { teamIds }),
    event,
  };
}

/** bodyOf is what is sent. */
export const bodyOf = (form: RuleForm): Omit<Schemas["CreateNotificationRule"], "enabled"> => ({
  name: form.name.trim(),
  match: wire(matchOf(form)),
  channelIds: form.channelIds,
  groupSeconds: Number(form.groupSeconds),
  repeatMinutes: Number(form.repeatMinutes),
  quiet: form.isQuiet
    ? { from: form.quietFrom, to: form.quietTo, timeZone: form.quietZone, exceptCritical: form.exceptCritical }
    : null,
});

/** wire is a match as the API takes it. */
export const wire = ({
  severity,
  engine,
  instanceIds,
  nameContains,
  tags,
  teamIds,
  event,
}: Match): Schemas["RuleMatch"] => ({
  severity: severity ?? [],
  engine: engine ?? [],
  instanceIds: instanceIds ?? [],
  nameContains,
  ...(tags && { tags }),
  ...(teamIds && { teamIds }),
  event: event ?? [],
});
