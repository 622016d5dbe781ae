import {
  IconAlertOctagon,
  IconAlertTriangle,
  IconBell,
  IconBellOff,
  IconCircleCheck,
  IconCircleDashed,
  IconEye,
  IconInfoCircle,
  IconSparkles,
  IconTool,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { duration, shortTime } from "../ui/format";
import classes from "./badges.module.css";

type Look = { label: string; className?: string; icon: typeof IconBell };

const severityLooks: Record<string, Look> = {
  critical: { label: "Critical", className: classes.critical, icon: IconAlertOctagon },
  warning: { label: "Warning", className: classes.warning, icon: IconAlertTriangle },
  info: { label: "Info", className: classes.info, icon: IconInfoCircle },
};

const stateLooks: Record<string, Look> = {
  Open: { label: "Open", className: classes.firing, icon: IconBell },
  Acknowledged: { label: "Acknowledged", className: classes.seen, icon: IconEye },
  Resolved: { label: "Resolved", className: classes.closed, icon: IconCircleCheck },
  AutoResolved: { label: "Auto-resolved", className: classes.closed, icon: IconSparkles },
};

/** What this page does not know yet is shown as it came: both lists of values are open. */
const lookOf = (looks: Record<string, Look>, value: string): Look =>
  Object.hasOwn(looks, value) ? (looks[value] as Look) : { label: value, icon: IconCircleDashed };

function Badge({ className, icon: Icon, children }: Omit<Look, "label"> & { children: ReactNode }) {
  return (
    <span className={className ? `${classes.badge} ${className}` : classes.badge}>
      <Icon size={14} aria-hidden />
      {children}
    </span>
  );
}

/** severityName is a severity in words: "Critical"; an unknown one is itself. */
export const severityName = (severity: string) => lookOf(severityLooks, severity).label;

/** stateName is an alert's state in words: "Auto-resolved"; an unknown one is itself. */
export const stateName = (state: string) => lookOf(stateLooks, state).label;

/** SeverityBadge is how bad an alert is, as text and icon. */
export function SeverityBadge({ severity }: { severity: string }) {
  const look = lookOf(severityLooks, severity);
  return (
    <Badge className={look.className} icon={look.icon}>
      {look.label}
    </Badge>
  );
}

/** StateBadge is where an alert stands, as text and icon. */
export function StateBadge({ state }: { state: string }) {
  const look = lookOf(stateLooks, state);
  return (
    <Badge className={look.className} icon={look.icon}>
      {look.label}
    </Badge>
  );
}

/** MutedBadge says that an alert counts in no figure and no chart, and until when, where that has an end. */
export function MutedBadge({ until }: { until?: string | null }) {
  return (
    <Badge className={classes.muted} icon={IconBellOff}>
      {until ? `Muted until ${shortTime(until)}` : "Muted"}
    </Badge>
  );
}

/** MaintenanceBadge says that an alert was raised in a maintenance window. */
export function MaintenanceBadge({ window }: { window: Schemas["InMaintenance"] }) {
  return (
    <Badge className={classes.muted} icon={IconTool}>
      <span title={window.name}>Maintenance until {shortTime(window.until)}</span>
    </Badge>
  );
}

/** alertDuration is how long an alert lasted, in milliseconds: until it was resolved, or for an open one until now. */
export function alertDuration(alert: Pick<Schemas["Alert"], "firstTriggeredAt" | "resolvedAt">, now: Date): number {
  const end = alert.resolvedAt === null ? now.getTime() : Date.parse(alert.resolvedAt);
  return Math.max(0, end - Date.parse(alert.firstTriggeredAt));
}

const minute = 60_000;

/** durationText is an alert's duration in words, to the minute: "14 min"; one that is open says that it goes on. */
export function durationText(alert: Pick<Schemas["Alert"], "firstTriggeredAt" | "resolvedAt">, now: Date): string {
  const length = alertDuration(alert, now);
  const text = duration(length < minute ? length : Math.floor(length / minute) * minute);
  return alert.resolvedAt === null ? `${text} so far` : text;
}
