// Notification rules, channels and deliveries as people say them.
import { severityName } from "../alerts/badges";
import type { Schemas } from "../api/client";
import { engineName } from "../engines";
import { duration, plural } from "../ui/format";
import { words } from "../url/tagWords";
import { kindOf, kinds } from "./kinds";

export type Rule = Schemas["NotificationRule"];
export type Channel = Schemas["Channel"];
export type Delivery = Schemas["Delivery"];
export type Event = Schemas["NotifiedEvent"];
type Always = "severity" | "engine" | "instanceIds" | "nameContains" | "event";
export type Match = { [K in Always]: NonNullable<Schemas["RuleMatch"][K]> | null } & Pick<
  Schemas["RuleMatch"],
  "tags" | "teamIds"
>;

export const channelKinds = Object.keys(kinds);

export const channelKindName = (kind: string) => kindOf(kind)?.title ?? kind;

const eventNames: Record<string, string> = {
  "alert.raised": "Alert raised",
  "alert.resolved": "Alert resolved",
  "alert.acknowledged": "Alert acknowledged",
  "report.ready": "Report ready",
  "report.failed": "Report failed",
  "schedule.missed": "Scheduled report missed",
  "finding.new": "New finding",
  "instance.down": "Server down",
  "instance.up": "Server up again",
};

export const eventName = (event: string) => eventNames[event] ?? event;

const reasons: Record<string, string> = {
  quiet_hours: "Waits for the end of the quiet hours",
  resolved_meanwhile: "Raised and resolved within the quiet hours",
  not_told_raised: "No notification was sent when it was raised",
  rule_removed: "Its rule was removed",
  rule_disabled: "Its rule was switched off",
  channel_removed: "Its channel was removed",
  no_recipients: "The channel has no recipient",
  no_owner: "No team owns the server",
  maintenance_window: "The server was in a maintenance window",
  muted: "The alert was muted",
};

/** reasonText says why a notification waits or was not told. */
export const reasonText = (reason: string) => reasons[reason] ?? reason;

const either = new Intl.ListFormat("en", { type: "disjunction" });
const both = new Intl.ListFormat("en", { type: "conjunction" });

/** Of what is about one server, severity, engine and name are asked, too. */
const doings: { about: string; are: string; ofServer?: true; events: Record<string, string> }[] = [
  {
    about: "alerts",
    are: "are ",
    ofServer: true,
    events: { "alert.raised": "raised", "alert.resolved": "resolved", "alert.acknowledged": "acknowledged" },
  },
  { about: "reports", are: "", events: { "report.ready": "become ready", "report.failed": "fail" } },
  { about: "scheduled reports", are: "are ", events: { "schedule.missed": "missed" } },
  { about: "findings", are: "are ", ofServer: true, events: { "finding.new": "new" } },
  {
    about: "servers",
    are: "",
    ofServer: true,
    events: { "instance.down": "go down", "instance.up": "come up again" },
  },
];

/**
 * whatText is what a rule tells of: "critical alerts of PostgreSQL that are raised or resolved and reports that
 * fail". An empty list is everything.
 */
export function whatText({ severity, engine, instanceIds, nameContains, tags, teamIds, event }: Match): string {
  const parts = doings.flatMap(({ about, are, ofServer, events }) => {
    const chosen = Object.keys(events).filter((e) => !event?.length || event.includes(e as Event));
    if (chosen.length === 0) return [];
    const all = about === "alerts" && chosen.length === Object.keys(events).length;
    const done = all ? "" : ` that ${are}${either.format(chosen.map((e) => events[e] ?? e))}`;
    const servers = about !== "scheduled reports" && instanceIds?.length ? plural(instanceIds.length, "instance") : "";
    if (!ofServer && (teamIds?.length || (tags && Object.keys(tags).length > 0))) return [];
    if (!ofServer) return [`${about}${servers && ` of ${servers}`}${done}`];
    const how = severity?.length ? `${both.format(severity.map((s) => severityName(s).toLowerCase()))} ` : "";
    const where = [
      engine?.length ? either.format(engine.map(engineName)) : "",
      servers,
      tags && Object.keys(tags).length > 0 ? `instances with ${words(tags).join(", ")}` : "",
      teamIds?.length ? `instances of ${plural(teamIds.length, "team")}` : "",
      nameContains ? `instances named like “${nameContains}”` : "",
    ].filter(Boolean);
    return [`${how}${about}${where.length ? ` of ${where.join(", ")}` : ""}${done}`];
  });
  return both.format(parts);
}

/** howText is how a rule tells: grouped, repeated, quiet. */
export function howText({
  groupSeconds,
  repeatMinutes,
  quiet,
}: Pick<Rule, "groupSeconds" | "repeatMinutes" | "quiet">) {
  return [
    groupSeconds > 0 ? `grouped for ${duration(groupSeconds * 1_000)}` : "one by one",
    repeatMinutes > 0 && `repeated every ${duration(repeatMinutes * 60_000)}`,
    quiet && quietText(quiet),
  ]
    .filter(Boolean)
    .join(", ");
}

/** quietText is when a rule is quiet: "quiet from 22:00 to 07:00 (Europe/Amsterdam) except for critical alerts". */
export const quietText = ({ from, to, timeZone, exceptCritical }: Schemas["QuietHours"]) =>
  `quiet from ${from} to ${to} (${timeZone})${exceptCritical ? " except for critical alerts" : ""}`;

/** summaryOf is what a delivery tells in a line: its first event, and how many more. */
export function summaryOf({ events, omitted }: Pick<Delivery, "events" | "omitted">): string {
  const [first] = events;
  const more = events.length + omitted - 1;
  if (!first) return "Nothing";
  return more > 0 ? `${first.title} and ${plural(more, "more event")}` : first.title;
}

/** codeText is what the other side answered: "HTTP 410"; null where it did not. */
export const codeText = (kind: string, code: number | null) =>
  code === null ? null : `${kindOf(kind)?.protocol ?? "HTTP"} ${code}`;
