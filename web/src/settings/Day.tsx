import { Tooltip } from "@mantine/core";
import { absoluteTime } from "../ui/format";

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** Day is the day of an instant in the reader's zone, with its year; the tooltip has the instant itself. */
export function Day({ at }: { at: string }) {
  return (
    <Tooltip label={absoluteTime(at)} withArrow events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at} className="numbers" style={{ whiteSpace: "nowrap" }}>
        {day.format(new Date(at))}
      </time>
    </Tooltip>
  );
}
