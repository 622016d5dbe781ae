import {
  IconCircleCheck,
  IconHourglass,
  IconPlayerPause,
  IconPlugConnectedX,
  IconVolumeOff,
} from "@tabler/icons-react";
import type { Schemas } from "../api/client";
import { Mark, type Tone } from "../ui/Mark";

export type Instance = Schemas["Instance"];

/** awaited says that Muster has not looked at a server for the first time yet. */
export const awaited = (i: Instance) => i.collected && i.active && !i.lastAssessedAt && !i.lastError;

/** isSilent says that a server was heard from, and is not any more: the built-in watch's rule. Minutes. */
export const isSilent = (i: Instance, silentMinutes: number, now: Date) =>
  i.active && i.lastSeenAt !== null && now.getTime() - Date.parse(i.lastSeenAt) > silentMinutes * 60_000;

type State = { name: string; tone: Tone; icon: typeof IconVolumeOff };

/** standingOf is how a server stands, the worst first. */
export function standingOf(i: Instance, silentMinutes: number, now: Date): State {
  if (!i.active) return { name: "Inactive", tone: "quiet", icon: IconPlayerPause };
  if (i.lastError) return { name: "Unreachable", tone: "bad", icon: IconPlugConnectedX };
  if (isSilent(i, silentMinutes, now)) return { name: "Silent", tone: "warning", icon: IconVolumeOff };
  if (awaited(i)) return { name: "First assessment", tone: "busy", icon: IconHourglass };
  return { name: "Active", tone: "good", icon: IconCircleCheck };
}

/** Standing is how a server stands, as text and icon. */
export function Standing({ instance, silentMinutes, now }: { instance: Instance; silentMinutes: number; now: Date }) {
  const { name, tone, icon: Icon } = standingOf(instance, silentMinutes, now);
  return (
    <Mark tone={tone} icon={<Icon size={16} aria-hidden />}>
      {name}
    </Mark>
  );
}
