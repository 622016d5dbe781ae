import { Badge, type BadgeProps, Group, Progress, Stack, Text } from "@mantine/core";
import { IconCheck, IconClock, IconHourglass, IconLoader2, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { duration } from "../ui/format";
import { useNow } from "../ui/Time";

export type Report = Schemas["Report"];

/** kindNames are the report kinds as people say them. */
export const kindNames: Record<string, string> = {
  Security: "Security",
  InstanceScorecard: "Instance scorecard",
  DataInventory: "Data inventory",
};

export const kindName = (kind: string) => kindNames[kind] ?? kind;

/** statusNames are the states as people read them: Building is Processing. */
export const statusNames: Record<string, string> = {
  Queued: "Queued",
  Building: "Processing",
  Ready: "Ready",
  Failed: "Failed",
  Expired: "Expired",
};

const looks: Record<string, { color: string; icon: ReactNode }> = {
  Queued: { color: "gray", icon: <IconClock size={14} aria-hidden /> },
  Building: { color: "blue", icon: <IconLoader2 size={14} aria-hidden /> },
  Ready: { color: "muster", icon: <IconCheck size={14} aria-hidden /> },
  Failed: { color: "red", icon: <IconX size={14} aria-hidden /> },
  Expired: { color: "gray", icon: <IconHourglass size={14} aria-hidden /> },
};

/** StatusBadge is a report's state in a word and a sign. */
export function StatusBadge({ status, ...rest }: { status: string } & BadgeProps) {
  const look = looks[status];
  return (
    <Badge
      variant="outline"
      radius="sm"
      tt="none"
      fw={600}
      color={look?.color ?? "gray"}
      leftSection={look?.icon}
      {...rest}
      styles={{
        root: { color: "var(--mantine-color-text)", flexShrink: 0 },
        section: { color: `var(--mantine-color-${look?.color ?? "gray"}-outline)` },
      }}
    >
      {statusNames[status] ?? status}
    </Badge>
  );
}

/** ReportStatus is a report's state, and while it is queued or built how far it is and for how long. */
export function ReportStatus({ report }: { report: Report }) {
  const moving = report.status === "Queued" || report.status === "Building";
  return (
    <Stack gap={4} miw={0}>
      <Group gap="xs" wrap="nowrap">
        <StatusBadge status={report.status} />
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
