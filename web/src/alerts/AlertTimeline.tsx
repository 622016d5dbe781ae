import { Button, Text, Timeline } from "@mantine/core";
import { IconBell, IconBellOff, IconCircleCheck, IconCircleDashed, IconEye, IconFlame } from "@tabler/icons-react";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { absoluteTime, ago, plural, shortTime } from "../ui/format";
import { useNow } from "../ui/now";

type Moment = Schemas["AlertMoment"];

const events: Record<string, { name: string; icon: typeof IconBell }> = {
  triggered: { name: "Triggered", icon: IconFlame },
  acknowledged: { name: "Acknowledged", icon: IconEye },
  muted: { name: "Muted", icon: IconBellOff },
  unmuted: { name: "Unmuted", icon: IconBell },
  resolved: { name: "Resolved", icon: IconCircleCheck },
};

/** More moments than these are folded: the first, how many there are between, the latest. */
const shown = 12;

/** AlertTimeline is what happened to an alert, oldest first: what, who, and when exactly. */
export function AlertTimeline({ moments }: { moments: Moment[] }) {
  const [all, setAll] = useState(false);
  const now = useNow(30_000);
  const fold = !all && moments.length > shown;
  const latest = fold ? moments.slice(-(shown - 1)) : moments.slice(1);
  return (
    <Timeline bulletSize={24} lineWidth={2} active={moments.length} color="gray" autoContrast>
      {[...moments.slice(0, 1), ...latest].map((moment, n) => {
        const event = Object.hasOwn(events, moment.event) ? events[moment.event] : undefined;
        const Icon = event?.icon ?? IconCircleDashed;
        return (
          <Timeline.Item
            // biome-ignore lint/suspicious/noArrayIndexKey: two moments may be alike in everything but their place
            key={n}
            bullet={<Icon size={14} aria-hidden />}
            title={
              <Text size="sm" fw={600} span>
                {event?.name ?? moment.event}
                <By moment={moment} />
              </Text>
            }
          >
            <Text size="xs" c="dimmed" className="numbers">
              <time dateTime={moment.at}>{absoluteTime(moment.at)}</time> ({ago(moment.at, now)})
            </Text>
            {moment.note && (
              <Text
                component="blockquote"
                size="sm"
                dir="auto"
                m={0}
                mt={4}
                maw="70ch"
                style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
              >
                {moment.note}
              </Text>
            )}
            {fold && n === 0 && (
              <Button size="compact-xs" variant="subtle" mt={6} onClick={() => setAll(true)}>
                Show {plural(moments.length - shown, "more moment")}
              </Button>
            )}
          </Timeline.Item>
        );
      })}
    </Timeline>
  );
}

/** Without an actor it was whatever sends the alerts, which needs no saying but where a person could have done it. */
function By({ moment }: { moment: Moment }) {
  const text = moment.actor
    ? ` by ${moment.actor.name || "an erased member"}${moment.until ? ` until ${shortTime(moment.until)}` : ""}`
    : moment.event === "triggered"
      ? ""
      : moment.event === "unmuted" && moment.until
        ? ": its time was over"
        : " by its source";
  return (
    text && (
      <Text size="sm" fw={400} span>
        {text}
      </Text>
    )
  );
}
