// The states of a server, as every page shows them. Apart from Standing: the dashboard begins with them.
import {
  IconCircleCheck,
  IconHelpCircle,
  IconPlayerPause,
  IconPlugConnectedX,
  IconVolumeOff,
  type TablerIcon,
} from "@tabler/icons-react";
import type { Schemas } from "../api/client";

export type Instance = Schemas["Instance"];
export type Status = Schemas["InstanceStatus"];

/** statuses are all of them, the worst first. */
export const statuses = ["down", "silent", "unknown", "up", "inactive"] as const satisfies Status[];

export const statusNames: Record<Status, string> = {
  down: "Down",
  silent: "Silent",
  unknown: "Unknown",
  up: "Up",
  inactive: "Inactive",
};

export const statusIcons: Record<Status, TablerIcon> = {
  down: IconPlugConnectedX,
  silent: IconVolumeOff,
  unknown: IconHelpCircle,
  up: IconCircleCheck,
  inactive: IconPlayerPause,
};
