import { Group, Progress, Stack, Text } from "@mantine/core";
import { IconCircleCheck, IconCircleX, IconClock, IconHourglass, IconLoader2 } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { duration } from "../ui/format";
import { Mark, type Tone } from "../ui/Mark";
import { useNow } from "../ui/now";

export type Report = Schemas["Report"];

/** statusNames are the states as people read them: Building is Processing. */
export const statusNames: Record<string, string> = {
  Queued: "Queued",
  Building: "Processing",
  Ready: "Ready",
  Failed: "Failed",
  Expired: "Expired",
};

const looks: Record<string, { tone: Tone; icon: ReactNode }> = {
  Queued: { tone: "quiet", icon: <IconClock size={16} aria-hidden /> },
  Building: { tone: "busy", icon: <IconLoader2 size={16} aria-hidden /> },
  Ready: { tone: "good", icon: <IconCircleCheck size={16} aria-hidden /> },
  Failed: { tone: "bad", icon: <IconCircleX size={16} aria-hidden /> },
  Expired: { tone: "quiet", icon: <IconHourglass size={16} aria-hidden /> },
};

/** StatusMark is a report's state in a word and a sign. */
export function StatusMark({ status }: { status: string }) {
  const look = looks[status];
  return (
    <Mark tone={look?.tone ?? "quiet"} icon={look?.icon}>
      {statusNames[status] ?? status}
    </Mark>
  );
}

/** ReportStatus is a report's state, and while it is queued or built how far it is and for how long. */
export function ReportStatus({ report }: { report: Report }) {
  const moving = report.status === "Queued" || report.status === "Building";
  return (
    <Stack gap={4} miw={0}>
      <Group gap="xs" wrap="nowrap">
        <StatusMark status={report.status} />
        {moving && <Elapsed since={report.startedAt ?? report.createdAt} waiting={report.status === "Queued"} />}
      </Group>
      {report.status === "Building" && <BuildProgress progress={report.progress} />}
    </Stack>
  );
}

/** Elapsed counts the time since a build began, or a request waits. */
function Elapsed({ since, waiting }: { since: string; waiting: boolean }) {
  const now = useNow(1_000);
  return (
    <Text size="xs" c="dimmed" className="numbers" style={{ whiteSpace: "nowrap" }}>
      {waiting && "waiting "}
      {duration(now.getTime() - new Date(since).getTime())}
    </Text>
  );
}

/** BuildProgress is the step that a build is at; null where it has not said so yet. */
function BuildProgress({ progress }: { progress: Report["progress"] }) {
  if (!progress) return null;
  const { step, totalSteps, label } = progress;
  const said = `Step ${step} of ${totalSteps}: ${label}`;
  return (
    <>
      {/* The step it is at is not done: a bar that is full says Ready. */}
      <Progress size="sm" value={Math.max(4, (100 * (step - 1)) / Math.max(1, totalSteps))} aria-label={said} />
      <Text size="xs" c="dimmed">
        {said}
      </Text>
    </>
  );
}
