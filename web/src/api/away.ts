// Whether the server can be reached. A request that fails as those of an absent server do (no answer, 502, 503, 504) is
// not proof: one route may fail alone. So the server is asked who is signed in, which takes its database too; only where
// that fails the same way is it away. TanStack Query then pauses whatever is asked, with all that is shown in its place,
// and goes on by itself afterwards.
import { onlineManager, useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { serverNow } from "./clock";
import { usePolling } from "./polling";
import { failedLikeAway, Problem } from "./problem";

/** Away is since when the server cannot be reached, and how that showed. */
export type Away = { since: Date; problem: Problem };

let away: Away | null = null;
const listeners = new Set<() => void>();
const listen = (tell: () => void) => {
  listeners.add(tell);
  return () => {
    listeners.delete(tell);
  };
};

// Whether the machine is on a network says nothing about this server: it may be the same machine.
onlineManager.setEventListener(() => () => {});

function set(next: Away | null) {
  away = next;
  onlineManager.setOnline(next === null);
  for (const tell of [...listeners]) tell();
}

/** The browser waits minutes for a server that has died without a word. */
const patience = 10_000;

/** probe asks who is signed in; it throws a Problem where the server is away. */
async function probe(): Promise<true> {
  const asking = fetch("/api/v1/session", { cache: "no-store", signal: AbortSignal.timeout(patience) });
  const answer = await asking.catch(() => new Response(null, { status: 504 }));
  const problem = new Problem(await answer.json().catch(() => ({})), answer.status, answer.headers);
  if (failedLikeAway(problem)) throw problem;
  return true;
}

let probing: Promise<Away | null> | null = null;

/** whetherAway finds out, after a request has failed, whether the server is away. */
export function whetherAway(): Promise<Away | null> {
  if (away) return Promise.resolve(away);
  const since = serverNow();
  probing ??= probe()
    .then(
      () => null,
      (problem: Problem) => ({ since, problem }),
    )
    .then((found) => {
      probing = null;
      if (found) set(found);
      return found;
    });
  return probing;
}

/** back is fulfilled as soon as the server is not away. */
export function back(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (away) return;
      stop();
      resolve();
    };
    const stop = listen(look);
    look();
  });
}

/** useAway is since when the server cannot be reached; null where it can. */
export const useAway = () => useSyncExternalStore(listen, () => away);

/**
 * useProbing asks for the server while it is away, in the waits of all polling, and notes that it is back. For one
 * place of the page; tryNow asks at once.
 */
export function useProbing(): { tryNow: () => void; trying: boolean } {
  const gone = useAway();
  const polling = usePolling<true>(() => false);
  const { refetch, isFetching } = useQuery({
    queryKey: ["away", gone?.since.getTime()],
    queryFn: async () => {
      await probe();
      set(null);
      return true as const;
    },
    enabled: gone !== null,
    networkMode: "always",
    gcTime: 0,
    ...polling,
    retry: false,
  });
  return { tryNow: refetch, trying: isFetching };
}
