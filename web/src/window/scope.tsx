import { focusManager, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useMatches, useNavigate } from "@tanstack/react-router";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { sessionQuery } from "../api/session";
import { opened, type Reading, readNow } from "./opened";
import { type Filter, filterOf, namesNone, type Servers, serversOf } from "./query";
import { heldUntil, type Interval, intervalLengths, movesOn } from "./refresh";
import { within } from "./team";
import { isCustom, type Preset, type Range, stepped, type Window, windowOf } from "./window";

/** ScopeSearch is what every page with the top bar's filter carries in its address. */
export type ScopeSearch = Range & Filter & { refresh?: Interval };

/** ViewSearch is what the dashboard's address says beside its scope: the series that it hides, and whether it compares. */
export type ViewSearch = { hide?: string[]; compare?: "previous" };

type Anchor = {
  at: Date;
  /** When the page was last read as a whole. */
  asked: number;
  move: () => void;
  /** Reads the page again, at the same anchor until a minute has passed. */
  again: () => void;
};

const AnchorContext = createContext<Anchor>({ at: new Date(), asked: 0, move: () => {}, again: () => {} });

/** AnchorProvider holds the instant at which presets end: one for the whole page, moved by Refresh alone. */
export function AnchorProvider({ children }: { children: ReactNode }) {
  const [reading, read] = useState(opened);
  const move = useCallback(() => read(readNow), []);
  const again = useCallback(
    () => read(({ at }) => (movesOn(at.getTime(), Date.now()) ? readNow() : { at, asked: Date.now() })),
    [],
  );
  const anchor = useMemo(() => ({ ...reading, move, again }), [reading, move, again]);
  useRefetch(reading);
  return <AnchorContext value={anchor}>{children}</AnchorContext>;
}

const ofThePage = (query: { queryKey: readonly unknown[] }) => query.queryKey[0] !== sessionQuery.queryKey[0];

/**
 * useRefetch reads again whatever the page shows at each further reading. What has the anchor in its key is being read
 * by then, if that has moved (effects of children run first), and is left alone: one Refresh, one request each.
 */
function useRefetch(reading: Reading) {
  const queries = useQueryClient();
  const seen = useRef(reading);
  useEffect(() => {
    if (seen.current === reading) return;
    seen.current = reading;
    queries.refetchQueries(
      { type: "active", predicate: (query) => query.state.fetchStatus === "idle" && ofThePage(query) },
      { cancelRefetch: false },
    );
  }, [reading, queries]);
}

export const useAnchor = () => useContext(AnchorContext);

const visible = () => focusManager.isFocused();
const onVisible = (tell: () => void) => focusManager.subscribe(tell);

const held = (queries: QueryClient) =>
  heldUntil(queries.getQueryCache().findAll({ type: "active", predicate: ofThePage }));

/**
 * useLive reads the page again so long after it was last read, by whatever. A hidden tab asks nothing; looked at again, it
 * asks at once if it is due. A server that says when to come again is not asked before.
 */
export function useLive(interval: Interval | undefined) {
  const { asked, again } = useAnchor();
  const queries = useQueryClient();
  const looked = useSyncExternalStore(onVisible, visible);
  useEffect(() => {
    if (interval === undefined || !looked) return;
    let timer: ReturnType<typeof setTimeout>;
    const wait = (until: number) => {
      timer = setTimeout(ask, Math.max(0, until - Date.now()));
    };
    const ask = () => {
      const until = held(queries);
      if (until > Date.now()) wait(until);
      else again();
    };
    wait(asked + intervalLengths[interval]);
    return () => clearTimeout(timer);
  }, [interval, looked, asked, again, queries]);
}

/** scopeOf is the part of an address that goes along from page to page. */
export function scopeOf(search: ScopeSearch): ScopeSearch {
  const { range, from, to, refresh } = search;
  return {
    ...(range && { range }),
    ...(from && { from }),
    ...(to && { to }),
    ...filterOf(search),
    ...(refresh && { refresh }),
  };
}

/**
 * TeamContext is how the API is asked for the servers of the address's team; {} is no team. It is there before the page,
 * which waits for it.
 */
export const TeamContext = createContext<Servers>({});

export type Scope = {
  /** The window as the address means it, at the page's anchor. One object as long as neither moves. */
  window: Window;
  /** The filter, as the API takes it. One object as long as it stays the same; {} is the whole organization. */
  servers: Servers;
  /** The filter, as the address has it: for links, and to change it. */
  filter: Filter;
  /** A filter that names nothing: show zeros and gaps, ask nothing. */
  matchesNothing: boolean;
  /** For links to other pages with this scope: `<Link to="/alerts" search={scope.search}>`. */
  search: ScopeSearch;
  setPreset: (preset: Preset) => void;
  setCustom: (from: string, to: string) => void;
  /** Goes a window back or forward; null where that would be no step. */
  back: () => void;
  forward: (() => void) | null;
  /** How often the page is read anew by itself; undefined is never. */
  refresh: Interval | undefined;
  setRefresh: (interval: Interval | undefined) => void;
  /** The dashboard shows the window before beside this one. */
  compares: boolean;
  setCompares: (on: boolean) => void;
  /** To no window at all, where a page has such a thing; elsewhere to the default preset. */
  clearWindow: () => void;
  /** replace leaves no entry in the history: for the second and further changes of one choice. */
  setServers: (servers: Servers, options?: { replace?: boolean }) => void;
  /** To the servers of one team; undefined is all teams. */
  setOwner: (team: string | undefined) => void;
};

/** useScope is the top bar's filter and window: read from the address, changed by changing it. */
export function useScope(): Scope {
  // The page's search, also for the shell around it, whose own is the address as it came.
  const search: ScopeSearch & ViewSearch = useMatches({
    select: (matches) => matches[matches.length - 1]?.search ?? {},
  });
  const { at } = useAnchor();
  const navigate = useNavigate();
  const { range, from, to, refresh } = search;
  const filter = filterOf(search);
  const chosen = JSON.stringify(within(useContext(TeamContext), serversOf(search)));
  const window = useMemo(() => windowOf({ range, from, to }, at), [range, from, to, at]);
  const servers = useMemo((): Servers => JSON.parse(chosen), [chosen]);
  const turn = useCallback(
    (next: Record<string, unknown>, replace = false) =>
      navigate({
        to: ".",
        replace,
        // The page stays where it is scrolled to: it is the same page, of another scope.
        resetScroll: false,
        search: ((previous: Record<string, unknown>) => ({ ...previous, ...next })) as never,
      }),
    [navigate],
  );
  // A page of a list in another scope is another page: it starts again at the first.
  const change = (next: ScopeSearch, replace = false) => turn({ page: undefined, ...next }, replace);
  const later = stepped(window, 1, at) ?? null;
  const step = (next: Range | undefined) => change({ range: undefined, from: undefined, to: undefined, ...next });
  return {
    window,
    servers,
    filter,
    matchesNothing: namesNone(servers),
    search: scopeOf({
      ...(isCustom({ range, from, to }) ? { from, to } : { range }),
      ...filter,
      refresh,
    }),
    setPreset: (preset) => change({ range: preset, from: undefined, to: undefined }),
    setCustom: (start, end) => change({ range: undefined, from: start, to: end }),
    back: () => step(stepped(window, -1, at)),
    forward: later && (() => step(later)),
    refresh,
    // The same page, read more often: nothing for Back to return to.
    setRefresh: (interval) => turn({ refresh: interval }, true),
    compares: search.compare === "previous",
    setCompares: (on) => turn({ compare: on ? "previous" : undefined }, true),
    clearWindow: () => change({ range: undefined, from: undefined, to: undefined }),
    setServers: ({ instanceId, tag }, options) => change({ instanceId, tag }, options?.replace),
    setOwner: (owner) => change({ owner }),
  };
}
