import { Tooltip } from "@mantine/core";
import { useEffect, useState } from "react";
import { absoluteTime, ago, shortTime } from "./format";

/** Time is an instant: short, or how long ago it is, with the absolute one and its zone as a tooltip. */
export function Time({ at, relative = false }: { at: string; relative?: boolean }) {
  const now = useNow(relative ? 10_000 : null);
  return (
    <Tooltip label={absoluteTime(at)} withArrow events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at} className="numbers" style={{ whiteSpace: "nowrap" }}>
        {relative ? ago(at, now) : shortTime(at)}
      </time>
    </Tooltip>
  );
}

/** useNow is the time, read anew every so many milliseconds; null reads it once. */
export function useNow(every: number | null): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    if (every === null) return;
    const timer = setInterval(() => setNow(new Date()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}
