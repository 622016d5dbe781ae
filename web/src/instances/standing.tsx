import { Mark, type Tone } from "../ui/Mark";
import { wordOf } from "./reason";
import { type Instance, type Status, statusIcons, statusNames } from "./states";

export type { Instance } from "./states";

/** awaited says that Muster has not looked at a server for the first time yet. */
export const awaited = (i: Instance) => i.collected && i.active && !i.lastAssessedAt && !i.lastError;

const tones: Record<Status, Tone> = { down: "bad", silent: "warning", unknown: "quiet", up: "good", inactive: "quiet" };

/** Standing is a server's status as icon and word, and of one that is down what its reason is for short. */
export function Standing({ instance: { status, statusReason } }: { instance: Instance }) {
  const word = status === "down" && statusReason ? wordOf(statusReason.code) : null;
  return <StatusMark status={status} word={word} />;
}

/** StatusMark is a status as icon and word, and another word for why. */
export function StatusMark({ status, word = null }: { status: Status; word?: string | null }) {
  const Icon = statusIcons[status];
  return (
    <Mark tone={tones[status]} icon={<Icon size={16} aria-hidden />}>
      {statusNames[status]}
      {word && `, ${word}`}
    </Mark>
  );
}

/** partlyMeasured says of a server that is up that something of it is not measured, though it was tried. */
export const partlyMeasured = (i: Instance) =>
  i.status === "up" && i.parts.some((p) => p.state === "failed" && p.part !== "assessment");
