import { Tooltip } from "@mantine/core";
import { absoluteTime, ago, fromNow, lasting, shortTime, sinceWhen } from "./format";
import { useNow } from "./now";

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

/** Since is when something began that goes on, and for how long it has: "since 18:15:17, 9 min". */
export function Since({ at }: { at: string }) {
  const now = useNow(10_000);
  return (
    <>
      since{" "}
      <Tooltip label={absoluteTime(at)} withArrow events={{ hover: true, focus: true, touch: true }}>
        <time dateTime={at} className="numbers" style={{ whiteSpace: "nowrap" }}>
          {sinceWhen(at, now)}
        </time>
      </Tooltip>
      <span className="numbers">, {lasting(at, now).replaceAll(" ", "\u00a0")}</span>
    </>
  );
}
