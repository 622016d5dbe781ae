import { Burger, Text } from "@mantine/core";
import { Link, useRouterState } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { useLater } from "../ui/later";
import type { ScopeSearch, ViewSearch } from "../window/scope";

const tools = () => import("./Tools");

/** Tool is what the shell has open: one at a time. */
export type Tool = "filter" | "window" | "help";

type Props = {
  scoped: boolean;
  /** The page can be limited to a team. */
  ofTeam: boolean;
  /** The tools may come. */
  ready: boolean;
  /** What goes along to the dashboard. */
  dashboard: ScopeSearch & ViewSearch;
  menu: boolean;
  onMenu: () => void;
  tool: Tool | null;
  onTool: (tool: Tool | null) => void;
};

/** TopBar is the organization, the scope of the pages that have one, and what is there on every page. */
export function TopBar({ scoped, ofTeam, ready, dashboard, menu, onMenu, tool, onTool }: Props) {
  const { organization } = useSession();
  const path = useRouterState({ select: (s) => s.location.pathname });
  const loaded = useLater(tools, ready);
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
      {ofTeam && loaded && <loaded.TeamSwitcher />}
      {scoped && (
        <div className="shell-scope">{loaded && <loaded.ScopeTools path={path} tool={tool} onTool={onTool} />}</div>
      )}
      <div className="shell-tools">{loaded && <loaded.Tools onShortcuts={() => onTool("help")} />}</div>
    </div>
  );
}
