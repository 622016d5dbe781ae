import { AppShell } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, useState } from "react";
import { ReportAnnouncer } from "../reports/ReportAnnouncer";
import { type ScopeSearch, useScope } from "../window/scope";
import { DemoBanner, InsecureBanner } from "./Banners";
import { useFocus } from "./focus";
import { Navigation } from "./Navigation";
import { RouteAnnouncer } from "./RouteAnnouncer";
import { SessionEnded } from "./SessionEnded";
import { ShortcutsModal } from "./ShortcutsModal";
import "./shell.css";
import { type Tool, TopBar } from "./TopBar";
import { usePageShortcuts } from "./usePageShortcuts";

/** Shell is the page's frame: navigation, and for pages with a scope the filter and the window. */
export function Shell({ scoped, children }: { scoped: boolean; children: ReactNode }) {
  const [menu, { toggle, close }] = useDisclosure();
  const [tool, setTool] = useState<Tool | null>(null);
  const scope = useLastScope(scoped);
  useFocus();
  usePageShortcuts(scoped, scope, setTool);
  return (
    <AppShell
      header={{ height: scoped ? { base: 100, md: 56 } : 56 }}
      navbar={{ width: 216, breakpoint: "sm", collapsed: { mobile: !menu } }}
      padding={{ base: "sm", sm: "lg" }}
    >
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
      <AppShell.Header px={{ base: "xs", sm: "md" }}>
        <TopBar scoped={scoped} scope={scope} menu={menu} onMenu={toggle} tool={tool} onTool={setTool} />
      </AppShell.Header>
      <AppShell.Navbar p="xs" pt="md" data-closed={!menu || undefined}>
        <Navigation scope={scope} onNavigate={close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <InsecureBanner />
        <DemoBanner />
        {children}
      </AppShell.Main>
      <RouteAnnouncer />
      <ReportAnnouncer />
      <ShortcutsModal opened={tool === "help"} onClose={() => setTool(null)} />
      <SessionEnded />
    </AppShell>
  );
}

/** useLastScope is the scope of the page, or on a page without one that of the last page with it. */
function useLastScope(scoped: boolean): ScopeSearch {
  const { search } = useScope();
  const [last, setLast] = useState(search);
  if (scoped && JSON.stringify(last) !== JSON.stringify(search)) setLast(search);
  return last;
}
