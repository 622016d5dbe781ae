import { Loader } from "@mantine/core";
import { IconAlertOctagon, IconCircleCheck, IconCircleDashed, IconClockExclamation } from "@tabler/icons-react";
import { Mark } from "../ui/Mark";

/** ProjectionState is how a read model stands, as text and icon. One that is not known yet is shown as it came. */
export function ProjectionState({ status }: { status: string }) {
  switch (status) {
    case "running":
      return (
        <Mark tone="good" icon={<IconCircleCheck size={16} aria-hidden />}>
          Running
        </Mark>
      );
    case "rebuilding":
      return (
        <Mark tone="busy" icon={<Loader size={14} aria-hidden />}>
          Rebuilding
        </Mark>
      );
    case "stalled":
      return (
        <Mark tone="bad" icon={<IconClockExclamation size={16} aria-hidden />}>
          Stalled
        </Mark>
      );
    case "ahead":
      return (
        <Mark tone="bad" icon={<IconAlertOctagon size={16} aria-hidden />}>
          Ahead of its log
        </Mark>
      );
    case "failed":
      return (
        <Mark tone="bad" icon={<IconAlertOctagon size={16} aria-hidden />}>
          Failed
        </Mark>
      );
    default:
      return (
        <Mark tone="quiet" icon={<IconCircleDashed size={16} aria-hidden />}>
          {status}
        </Mark>
      );
  }
}
