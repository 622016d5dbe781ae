import { Anchor, Text } from "@mantine/core";
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconClock,
  IconEqual,
  IconHourglassLow,
  IconPlayerPause,
  IconPower,
} from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Mark, type Tone } from "../ui/Mark";
import { type Run, reasonText, type Schedule } from "./words";

type Look = { tone: Tone; icon: ReactNode; name: string };

const runs: Record<string, Look> = {
  waiting: { tone: "busy", icon: <IconHourglassLow size={16} aria-hidden />, name: "Waiting for room" },
  requested: { tone: "good", icon: <IconCircleCheck size={16} aria-hidden />, name: "Requested" },
  unchanged: { tone: "quiet", icon: <IconEqual size={16} aria-hidden />, name: "Unchanged" },
  missed: { tone: "bad", icon: <IconAlertTriangle size={16} aria-hidden />, name: "Missed" },
  paused: { tone: "warning", icon: <IconPlayerPause size={16} aria-hidden />, name: "Paused" },
};

/** RunMark is what became of a due time. */
export function RunMark({ status }: { status: string }) {
  const look = runs[status] ?? {
    tone: "quiet" as const,
    icon: <IconCircleDashed size={16} aria-hidden />,
    name: status,
  };
  return (
    <Mark tone={look.tone} icon={look.icon}>
      {look.name}
    </Mark>
  );
}

/** RunResult is the report of a run, or why there is none; in a list of schedules it is brief. */
export function RunResult({ run, brief = false }: { run: Run; brief?: boolean }) {
  return (
    <>
      {run.reportId && (
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link {...props} to="/reports/$reportId" params={{ reportId: run.reportId ?? "" } as never} />
          )}
        >
          {run.status === "unchanged" ? "Open the last report" : "Open the report"}
        </Anchor>
      )}
      {run.reason && <Text size="sm">{reasonText(run.reason)}</Text>}
      {run.status === "unchanged" && !brief && (
        <Text size="sm" c="dimmed">
          The findings are those of the last report: Muster built no report and sent no e-mail.
        </Text>
      )}
    </>
  );
}

/** StandingMark says whether a schedule requests reports, and why not. */
export function StandingMark({ schedule: { enabled, paused } }: { schedule: Pick<Schedule, "enabled" | "paused"> }) {
  if (!enabled) {
    return (
      <Mark tone="quiet" icon={<IconPower size={16} aria-hidden />}>
        Off
      </Mark>
    );
  }
  if (paused !== null) {
    return (
      <>
        <Mark tone="warning" icon={<IconPlayerPause size={16} aria-hidden />}>
          Paused
        </Mark>
        <Text size="xs" c="dimmed">
          {reasonText(paused)}
        </Text>
      </>
    );
  }
  return (
    <Mark tone="good" icon={<IconClock size={16} aria-hidden />}>
      On
    </Mark>
  );
}
