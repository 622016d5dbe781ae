import { Burger, Text } from "@mantine/core";
import { Link, useRouterState } from "@tanstack/react-router";
import { useState } from "react";
import { useSession } from "../api/session";
import { useAfterFirst } from "../chart/first";
import { useLater } from "../ui/later";
import type { ScopeSearch, ViewSearch } from "../window/scope";

const tools = () => import("./Tools");

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
  const loaded = useLater(tools, useReady(path));
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
        <div className="shell-scope">{loaded && <loaded.ScopeTools path={path} tool={tool} onTool={onTool} />}</div>
      )}
      <div className="shell-tools">{loaded && <loaded.Tools onShortcuts={() => onTool("help")} />}</div>
    </div>
  );
}

/** useReady says that the dashboard's first chart is there, which comes before the tools; another page has them at once, and they stay. */
function useReady(path: string): boolean {
  const afterFirst = useAfterFirst();
  const [elsewhere, leave] = useState(path !== "/");
  if (path !== "/" && !elsewhere) leave(true);
  return afterFirst || elsewhere;
}
