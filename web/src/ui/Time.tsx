import { ago, fromNow, lasting, shortTime, sinceWhen } from "./format";
import { Instant } from "./Instant";
import { useNow } from "./now";

/** Time is an instant: short, or how long ago it is. What is planned, like the end of a lease, is ahead. */
export function Time({ at, relative = false, ahead = false }: { at: string; relative?: boolean; ahead?: boolean }) {
  const now = useNow(relative || ahead ? 10_000 : null);
  return <Instant at={at}>{ahead ? fromNow(at, now) : relative ? ago(at, now) : shortTime(at)}</Instant>;
}

/** Since is when something began that goes on, and for how long it has: "since 18:15:17, 9 min". */
export function Since({ at }: { at: string }) {
  const now = useNow(10_000);
  return (
    <>
      since <Instant at={at}>{sinceWhen(at, now)}</Instant>
      <span className="numbers">, {lasting(at, now).replaceAll(" ", "\u00a0")}</span>
    </>
  );
}
