// How often what changes by itself is asked for again: specification §8, checklist 33. One way for all pages.
import { focusManager } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { Problem } from "./problem";

const second = 1_000;
/** Milliseconds between two questions while something is queued or being built. */
export const whileMoving = 5 * second;
const firstWait = 10 * second;
const longestWait = 60 * second;

/** Polled is what is read of a query; TanStack's Query is one. */
type Polled = {
  state: { data: unknown; error: unknown; status: string; errorUpdateCount: number; errorUpdatedAt: number };
};

// A query counts its failures, not those since its last success.
const failuresBefore = new WeakMap<object, number>();

function failuresInARow(query: Polled): number {
  const { status, errorUpdateCount } = query.state;
  if (status === "success") failuresBefore.set(query, errorUpdateCount);
  return errorUpdateCount - (failuresBefore.get(query) ?? 0);
}

const passes = (error: unknown) =>
  error instanceof Problem && (error.status === 0 || error.status === 429 || error.status >= 500);

/** Every is after how many milliseconds what an answer says may have changed by itself; false is never. */
type Every<D> = (data: D) => number | false;

/**
 * pollWait is how many milliseconds after an answer the same is asked again, or false where nothing that is shown can
 * change by itself. After a failure 10 s, then 20 s, 40 s, at most 60 s, and never before the server's Retry-After. A
 * refusal that waiting does not mend ends the polling.
 */
export function pollWait<D>(query: Polled, every: Every<D>): number | false {
  const failures = failuresInARow(query);
  const { data, error } = query.state;
  const usual = data !== undefined && every(data as D);
  if (data !== undefined && usual === false) return false;
  if (failures === 0) return usual;
  if (error !== null && !passes(error)) return false;
  const backoff = Math.min(firstWait * 2 ** (failures - 1), longestWait);
  const asked = error instanceof Problem && error.retryAfter !== null ? error.retryAfter * second : 0;
  return Math.max(backoff, asked);
}

/** dueOnReturn says whether a tab that is looked at again asks at once: where it polls and is not told to wait. */
export function dueOnReturn<D>(query: Polled, every: Every<D>, now: number): boolean {
  const wait = pollWait(query, every);
  if (wait === false) return false;
  return query.state.status !== "error" || now >= query.state.errorUpdatedAt + wait;
}

const visible = () => focusManager.isFocused();
const onVisible = (tell: () => void) => focusManager.subscribe(tell);

/**
 * usePolling is the options of a query that is asked again as long as what it shows may change. A hidden tab asks
 * nothing; looked at again, it asks at once and counts from there. So it does when the server is back that was away.
 */
export function usePolling<D>(every: Every<D>) {
  const looked = useSyncExternalStore(onVisible, visible);
  return {
    refetchInterval: (query: Polled) => looked && pollWait<D>(query, every),
    refetchIntervalInBackground: false,
    refetchOnWindowFocus: (query: Polled) => (dueOnReturn<D>(query, every, Date.now()) ? ("always" as const) : false),
    refetchOnReconnect: (query: Polled) => (pollWait<D>(query, every) === false ? false : ("always" as const)),
    // A try of its own would come between the waits; while the server is away, it waits with all others.
    retry: (_: number, error: unknown) => error instanceof Problem && error.away,
  };
}

/** inProgress says of a report that it will change by itself. */
export const inProgress = (report: { status: string }) => report.status === "Queued" || report.status === "Building";
