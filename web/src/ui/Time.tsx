import { Tooltip } from "@mantine/core";
import { useEffect, useReducer } from "react";
import { serverNow } from "../api/clock";
import { absoluteTime, ago, fromNow, shortTime } from "./format";

/**
 * Time is an instant: short, or how long ago it is, with the absolute one and its zone as a tooltip. What is planned,
 * like the end of a lease, is ahead.
 */
export function Time({ at, relative = false, ahead = false }: { at: string; relative?: boolean; ahead?: boolean }) {
  const now = useNow(relative || ahead ? 10_000 : null);
  return (
    <Tooltip label={absoluteTime(at)} withArrow events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at} className="numbers" style={{ whiteSpace: "nowrap" }}>
        {ahead ? fromNow(at, now) : relative ? ago(at, now) : shortTime(at)}
      </time>
    </Tooltip>
  );
}

/**
 * useNow is the time by the server's clock: at each rendering, so that what has just come in is not ahead of it, and at
 * least every so many milliseconds; null renders nothing by itself.
 */
export function useNow(every: number | null): Date {
  const [, tick] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    if (every === null) return;
    const timer = setInterval(tick, every);
    return () => clearInterval(timer);
  }, [every]);
  return serverNow();
}
