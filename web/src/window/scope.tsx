import { useQueryClient } from "@tanstack/react-query";
import { useMatches, useNavigate } from "@tanstack/react-router";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from "react";
import { sessionQuery } from "../api/session";
import { isCustom, type Preset, type Range, type Window, windowOf } from "./window";

/** ScopeSearch is what every page with the top bar's filter carries in its address. */
export type ScopeSearch = Range & { instanceId?: string[] };

type Anchor = { at: Date; move: () => void };

const AnchorContext = createContext<Anchor>({ at: new Date(), move: () => {} });

/** AnchorProvider holds the instant at which presets end: one for the whole page, moved by Refresh alone. */
export function AnchorProvider({ children }: { children: ReactNode }) {
  const [at, setAt] = useState(() => new Date());
  const move = useCallback(() => setAt(new Date()), []);
  const anchor = useMemo(() => ({ at, move }), [at, move]);
  useRefetch(at);
  return <AnchorContext value={anchor}>{children}</AnchorContext>;
}

/**
 * useRefetch reads again whatever the page shows once the anchor has moved. What has the anchor in its key is being read
 * by then (effects of children run first) and is left alone: one Refresh, one request each.
 */
function useRefetch(at: Date) {
  const queries = useQueryClient();
  const seen = useRef(at);
  useEffect(() => {
    if (seen.current === at) return;
    seen.current = at;
    queries.refetchQueries(
      {
        type: "active",
        predicate: (query) => query.state.fetchStatus === "idle" && query.queryKey[0] !== sessionQuery.queryKey[0],
      },
      { cancelRefetch: false },
    );
  }, [at, queries]);
}

export const useAnchor = () => useContext(AnchorContext);

/** scopeOf is the part of an address that goes along from page to page. */
export function scopeOf(search: ScopeSearch): ScopeSearch {
  const { range, from, to, instanceId } = search;
  return { ...(range && { range }), ...(from && { from }), ...(to && { to }), ...(instanceId && { instanceId }) };
}

export type Scope = {
  /** The window as the address means it, at the page's anchor. One object as long as neither moves. */
  window: Window;
  /** The chosen instances; undefined is the whole organization, and [] a filter that matches nothing. */
  instanceIds: string[] | undefined;
  /** A filter that names nothing: show zeros and gaps, ask nothing. */
  matchesNothing: boolean;
  /** For links to other pages with this scope: `<Link to="/alerts" search={scope.search}>`. */
  search: ScopeSearch;
  setPreset: (preset: Preset) => void;
  setCustom: (from: string, to: string) => void;
  /** To no window at all, where a page has such a thing; elsewhere to the default preset. */
  clearWindow: () => void;
  /** replace leaves no entry in the history: for the second and further changes of one choice. */
  setInstances: (ids: string[] | undefined, options?: { replace?: boolean }) => void;
};

/** useScope is the top bar's filter and window: read from the address, changed by changing it. */
export function useScope(): Scope {
  // The page's search, also for the shell around it, whose own is the address as it came.
  const search: ScopeSearch = useMatches({ select: (matches) => matches[matches.length - 1]?.search ?? {} });
  const { at } = useAnchor();
  const navigate = useNavigate();
  const { range, from, to } = search;
  const ids = search.instanceId?.join(",");
  const window = useMemo(() => windowOf({ range, from, to }, at), [range, from, to, at]);
  const instanceIds = useMemo(() => (ids === undefined ? undefined : ids === "" ? [] : ids.split(",")), [ids]);
  const change = useCallback(
    (next: ScopeSearch, replace = false) =>
      navigate({
        to: ".",
        replace,
        // The page stays where it is scrolled to: it is the same page, of another scope.
        resetScroll: false,
        // A page of a list in another scope is another page: it starts again at the first.
        search: ((previous: Record<string, unknown>) => ({ ...previous, page: undefined, ...next })) as never,
      }),
    [navigate],
  );
  return {
    window,
    instanceIds,
    matchesNothing: instanceIds?.length === 0,
    search: scopeOf({ ...(isCustom({ range, from, to }) ? { from, to } : { range }), instanceId: instanceIds }),
    setPreset: (preset) => change({ range: preset, from: undefined, to: undefined }),
    setCustom: (start, end) => change({ range: undefined, from: start, to: end }),
    clearWindow: () => change({ range: undefined, from: undefined, to: undefined }),
    setInstances: (chosen, options) => change({ instanceId: chosen }, options?.replace),
  };
}
