import { Anchor, Text } from "@mantine/core";
import { IconCircleCheck, IconCircleDashed, IconCircleX, IconClock, IconMailOff, IconMinus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { Mark, type Tone } from "../ui/Mark";
import { mails } from "./kinds";
import { reasonText } from "./words";

type Look = { tone: Tone; icon: ReactNode; name: string };

const looks: Record<string, Look> = {
  pending: { tone: "busy", icon: <IconClock size={16} aria-hidden />, name: "Pending" },
  sent: { tone: "good", icon: <IconCircleCheck size={16} aria-hidden />, name: "Sent" },
  failed: { tone: "bad", icon: <IconCircleX size={16} aria-hidden />, name: "Failed" },
  suppressed: { tone: "quiet", icon: <IconMinus size={16} aria-hidden />, name: "Suppressed" },
};

/** keptInOutbox says of a notification by e-mail that no mail server was set when it was sent: nobody got it. */
export const keptInOutbox = (kind: string, { status, lastCode }: { status: string; lastCode: number | null }) =>
  mails(kind) && status === "sent" && lastCode === null;

export const statusName = (status: string) => looks[status]?.name ?? status;

/** OutboxMark is an e-mail that nobody got, with why. */
export const OutboxMark = () => (
  <>
    <Mark tone="quiet" icon={<IconMailOff size={16} aria-hidden />}>
      In the outbox
    </Mark>
    <Text size="xs" c="dimmed">
      No mail server is set
    </Text>
  </>
);

/** DeliveryMark is what came of a notification, with why where it was not told. */
export function DeliveryMark({
  status,
  reason = null,
  kept = false,
}: {
  status: string;
  reason?: string | null;
  kept?: boolean;
}) {
  const look = looks[status];
  if (kept) return <OutboxMark />;
  return (
    <>
      <Mark tone={look?.tone ?? "quiet"} icon={look?.icon ?? <IconCircleDashed size={16} aria-hidden />}>
        {statusName(status)}
      </Mark>
      {reason && (
        <Text size="xs" c="dimmed">
          {reasonText(reason)}
        </Text>
      )}
    </>
  );
}

/** NoticeTitle is what an event is about, linked to its page. */
export function NoticeTitle({ notice: n }: { notice: Schemas["Notice"] }) {
  const to = n.alertId
    ? `/alerts/${n.alertId}`
    : n.reportId
      ? `/reports/${n.reportId}`
      : n.scheduleId
        ? `/schedules/${n.scheduleId}`
        : n.instance
          ? `/instances/${n.instance.id}`
          : null;
  const title = <bdi>{n.title}</bdi>;
  if (!to) return title;
  return (
    <Anchor size="sm" renderRoot={(props) => <Link {...props} to={to as "/"} />}>
      {title}
    </Anchor>
  );
}
