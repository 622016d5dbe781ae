import { useEffect, useState } from "react";

/** tokenIn is the one-time token of a link's fragment: "#token=…" or the bare "#…"; empty where there is none. */
export const tokenIn = (hash: string) => hash.replace(/^#/, "").replace(/^token=/, "");

/**
 * useFragmentToken is the one-time token of the address. A fragment is seen by no server and no log, and it leaves the
 * address bar at once, so that neither a screenshot nor the browser's history gives it away.
 */
export function useFragmentToken(): string {
  const [token] = useState(() => tokenIn(location.hash));
  useEffect(() => {
    if (location.hash) history.replaceState(history.state, "", location.pathname);
  }, []);
  return token;
}
