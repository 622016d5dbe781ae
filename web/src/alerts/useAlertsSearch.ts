import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { AlertsSearch } from "./query";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** The list from which an alert was opened, to go back to it as it was. */
    alerts?: AlertsSearch;
  }
}

/** useAlertsSearch is the list's address, and how to change it: whatever else changes, the list begins at page 1 again. */
export function useAlertsSearch() {
  const search = useSearch({ strict: false }) as AlertsSearch;
  const navigate = useNavigate();
  const change = useCallback(
    (next: Partial<AlertsSearch>, { replace = false } = {}) =>
      navigate({
        to: ".",
        search: ((previous: AlertsSearch) => ({ ...previous, page: undefined, ...next })) as never,
        replace,
        // Turning pages and choosing filters leave the reader where they are.
        resetScroll: false,
      }),
    [navigate],
  );
  return { search, change };
}
