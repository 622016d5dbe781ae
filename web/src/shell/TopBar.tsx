import { Burger, Text } from "@mantine/core";
import { Link, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useSession } from "../api/session";
import { useAfterFirst } from "../chart/first";
import { part } from "../ui/part";
import type { ScopeSearch, ViewSearch } from "../window/scope";
import { InstanceFilter } from "./InstanceFilter";
import { RefreshButton } from "./RefreshButton";
import { ShareMenu } from "./ShareMenu";
import { TimeWindow } from "./TimeWindow";

const Tools = lazy(() => part(() => import("./Tools")));

/** Tool is what the shell has open: one at a time. */
export type Tool = "filter" | "window" | "help";

type Props = {
  scoped: boolean;
  /** What goes along to the dashboard. */
  dashboard: ScopeSearch & ViewSearch;
  menu: boolean;
  onMenu: () => void;
  tool: Tool | null;
  onTool: (tool: Tool | null) => void;
};

/** TopBar is the organization, the scope of the pages that have one, and what is there on every page. */
export function TopBar({ scoped, dashboard, menu, onMenu, tool, onTool }: Props) {
  const { organization } = useSession();
  const path = useRouterState({ select: (s) => s.location.pathname });
  // The dashboard's first chart comes before them.
  const ready = useAfterFirst() || path !== "/";
  const opens = (which: Tool) => (opened: boolean) => onTool(opened ? which : null);
  return (
    <div className="shell-bar">
      <Burger
        opened={menu}
        onClick={onMenu}
        hiddenFrom="sm"
        size="sm"
        aria-label={menu ? "Close the navigation" : "Open the navigation"}
        aria-expanded={menu}
      />
      <Link to="/" search={dashboard as never} className="shell-mark">
        <img src="/assets/icon.svg" alt="" width={28} height={28} />
        <Text span fw={700} className="shell-product">
          Muster
        </Text>{" "}
        <Text span c="dimmed" truncate title={organization.name}>
          {organization.name}
        </Text>
      </Link>
      {scoped && (
        <div className="shell-scope">
          <InstanceFilter opened={tool === "filter"} onChange={opens("filter")} />
          <TimeWindow
            opened={tool === "window"}
            onChange={opens("window")}
            anyTime={path === "/alerts"}
            comparable={path === "/"}
          />
          <RefreshButton />
          <ShareMenu />
        </div>
      )}
      <div className="shell-tools">
        <Suspense fallback={null}>{ready && <Tools onShortcuts={() => onTool("help")} />}</Suspense>
      </div>
    </div>
  );
}
