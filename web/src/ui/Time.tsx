import { ago, exactTime, fromNow, lasting, shortTime, sinceWhen } from "./format";
import { Instant } from "./Instant";
import { useNow } from "./now";

type TimeProps = { at: string; relative?: boolean; ahead?: boolean; exact?: boolean };

/** Time is an instant: short, to the second, or how long ago it is. What is planned, like the end of a lease, is ahead. */
export function Time({ at, relative = false, ahead = false, exact = false }: TimeProps) {
  const now = useNow(relative || ahead ? 10_000 : null);
  const words = exact ? exactTime(at, now) : shortTime(at);
  return <Instant at={at}>{ahead ? fromNow(at, now) : relative ? ago(at, now) : words}</Instant>;
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
