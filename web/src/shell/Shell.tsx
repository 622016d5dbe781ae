import { useMatches, useRouterState } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { useAfterFirst } from "../chart/first";
import { useLater } from "../ui/later";
import { part } from "../ui/part";
import { type ScopeSearch, useLive, useScope, type ViewSearch } from "../window/scope";
import { AwayBanner } from "./Away";
import { DemoBanner, InsecureBanner } from "./Banners";
import { useFocus } from "./focus";
import { Navigation, PagesBeside } from "./Navigation";
import type { Ways } from "./navigation";
import { RouteAnnouncer } from "./RouteAnnouncer";
import { SessionEnded } from "./SessionEnded";
import "./shell.css";
import { type Tool, TopBar } from "./TopBar";
import { usePageShortcuts } from "./usePageShortcuts";

// What nobody sees at first is loaded after that which everybody does.
const announcer = () => import("../reports/ReportAnnouncer");
const ShortcutsModal = lazy(() => part(() => import("./ShortcutsModal")));

type Props = {
  scoped: boolean;
  /** The page can be limited to a team. */
  ofTeam: boolean;
  children: ReactNode;
};

/** Shell is the page's frame: navigation, the team, and for pages with a scope the filter and the window. */
export function Shell({ scoped, ofTeam, children }: Props) {
  const [menu, setMenu] = useState(false);
  const [tool, setTool] = useState<Tool | null>(null);
  const { refresh } = useScope();
  const scope = useLastScope(scoped, ofTeam);
  const ways: Ways = { scope, dashboard: { ...scope, ...useLastView() } };
  useLive(scoped ? refresh : undefined);
  useFocus();
  usePageShortcuts(scoped, ways, { tool, open: setTool });
  const ready = useReady();
  const later = useLater(announcer, ready);
  return (
    <div className="shell" data-scoped={scoped || undefined}>
      {/* biome-ignore lint/a11y/useValidAnchor: a skip link is a link, only one that leaves the address as it is */}
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          // The address is the view's state, and gets no fragment of this.
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to the content
      </a>
      <header className="shell-header">
        <TopBar
          scoped={scoped}
          ofTeam={ofTeam}
          ready={ready}
          dashboard={ways.dashboard}
          menu={menu}
          onMenu={() => setMenu(!menu)}
          tool={tool}
          onTool={setTool}
        />
      </header>
      <Navigation ways={ways} opened={menu} onNavigate={() => setMenu(false)} />
      <main className="shell-main" id="main" tabIndex={-1}>
        <AwayBanner />
        <InsecureBanner />
        <DemoBanner />
        <PagesBeside ways={ways} />
        {children}
      </main>
      <RouteAnnouncer />
      {later && <later.default />}
      <Suspense fallback={null}>{tool === "help" && <ShortcutsModal opened onClose={() => setTool(null)} />}</Suspense>
      <SessionEnded />
    </div>
  );
}

/** useReady says that the dashboard's first chart is there, which comes before all tools; on another page they are there at once, and they stay. */
function useReady(): boolean {
  const afterFirst = useAfterFirst();
  const path = useRouterState({ select: (s) => s.location.pathname });
  const [elsewhere, leave] = useState(path !== "/");
  if (path !== "/" && !elsewhere) leave(true);
  return afterFirst || elsewhere;
}

/** useLastScope is the scope of the page, or on a page without one that of the last page with it; so is the team. */
function useLastScope(scoped: boolean, ofTeam: boolean): ScopeSearch {
  const { search } = useScope();
  const { owner: _, ...last } = useWhile(scoped, search);
  const owner = useWhile(scoped || ofTeam, search.owner);
  return { ...last, ...(owner && { owner }) };
}

/** useLastView is what the dashboard's address says beside its scope, or on another page what it last said. */
function useLastView(): ViewSearch {
  const here = useMatches({ select: (matches) => matches[matches.length - 1]?.pathname === "/" });
  const { hide, compare }: ViewSearch = useMatches({ select: (matches) => matches[matches.length - 1]?.search ?? {} });
  return useWhile(here, { ...(hide && { hide }), ...(compare && { compare }) });
}

/** useWhile is a value while that holds, and afterwards the last one that did. */
function useWhile<V>(holds: boolean, value: V): V {
  const [last, setLast] = useState(value);
  if (holds && JSON.stringify(last) !== JSON.stringify(value)) setLast(value);
  return last;
}
