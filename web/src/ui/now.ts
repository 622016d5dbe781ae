import { useEffect, useReducer } from "react";
import { serverNow } from "../api/clock";

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
