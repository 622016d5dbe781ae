import {
  IconAlertHexagon,
  IconAlertOctagon,
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconEyeOff,
  IconInfoCircle,
  IconShieldCheck,
  IconTarget,
} from "@tabler/icons-react";
import classes from "../alerts/badges.module.css";

type Look = { label: string; className?: string; icon: typeof IconTarget };

const severityLooks: Record<string, Look> = {
  Critical: { label: "Critical", className: classes.critical, icon: IconAlertOctagon },
  High: { label: "High", className: classes.firing, icon: IconAlertHexagon },
  Medium: { label: "Medium", className: classes.warning, icon: IconAlertTriangle },
  Low: { label: "Low", className: classes.info, icon: IconInfoCircle },
};

const statusLooks: Record<string, Look> = {
  open: { label: "Open", className: classes.firing, icon: IconTarget },
  accepted: { label: "Accepted", className: classes.seen, icon: IconShieldCheck },
  notAssessed: { label: "Not assessed", className: classes.muted, icon: IconEyeOff },
  passed: { label: "Passes", className: classes.closed, icon: IconCircleCheck },
};

/** What this page does not know yet is shown as it came. */
const lookOf = (looks: Record<string, Look>, value: string): Look =>
  Object.hasOwn(looks, value) ? (looks[value] as Look) : { label: value, icon: IconCircleDashed };

function Badge({ className, icon: Icon, label }: Look) {
  return (
    <span className={className ? `${classes.badge} ${className}` : classes.badge}>
      <Icon size={14} aria-hidden />
      {label}
    </span>
  );
}

/** statusName is a finding's status in words: "Not assessed". */
export const statusName = (status: string) => lookOf(statusLooks, status).label;

/** SeverityBadge is how bad a finding or a check is, as text and icon. */
export const SeverityBadge = ({ severity }: { severity: string }) => <Badge {...lookOf(severityLooks, severity)} />;

/** StatusBadge is what has become of a finding, as text and icon. */
export const StatusBadge = ({ status }: { status: string }) => <Badge {...lookOf(statusLooks, status)} />;
