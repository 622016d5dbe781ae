import { IconBell, IconBellOff, IconCircleCheck, IconEye } from "@tabler/icons-react";
import type { Schemas } from "../api/client";
import type { Action } from "./useAlertAction";

type Alert = Pick<Schemas["Alert"], "open" | "state" | "isMuted">;

/** actions are what can be done with alerts, the likeliest first, and with which it can. A mute can be given another end. */
export const actions: { action: Action; name: string; icon: typeof IconEye; suits: (alert: Alert) => boolean }[] = [
  { action: "acknowledge", name: "Acknowledge", icon: IconEye, suits: (a) => a.open && a.state !== "Acknowledged" },
  { action: "mute", name: "Mute", icon: IconBellOff, suits: () => true },
  { action: "unmute", name: "Unmute", icon: IconBell, suits: (a) => a.isMuted },
  { action: "resolve", name: "Resolve", icon: IconCircleCheck, suits: (a) => a.open },
];

/** choicesOf is what can be done with an alert as it stands. */
export const choicesOf = (alert: Alert) => actions.filter(({ suits }) => suits(alert)).map(({ action }) => action);

/** nameOf is what an action is called: "Acknowledge". */
export const nameOf = (action: Action) => actions.find((a) => a.action === action)?.name ?? action;
