import { TrayMenu } from "../reports/TrayMenu";
import { ViewsMenu } from "../views/ViewsMenu";
import { AccountMenu } from "./AccountMenu";
import { InstanceFilter } from "./InstanceFilter";
import { RefreshButton } from "./RefreshButton";
import { ShareMenu } from "./ShareMenu";
import { TeamSwitcher } from "./TeamSwitcher";
import { ThemeMenu } from "./ThemeMenu";
import { TimeWindow } from "./TimeWindow";
import type { Tool } from "./TopBar";

export { TeamSwitcher };

/** ScopeTools is what the top bar has on the pages that have a scope. */
export function ScopeTools({
  path,
  tool,
  onTool,
}: {
  path: string;
  tool: Tool | null;
  onTool: (tool: Tool | null) => void;
}) {
  const opens = (which: Tool) => (opened: boolean) => onTool(opened ? which : null);
  return (
    <>
      <InstanceFilter opened={tool === "filter"} onChange={opens("filter")} />
      <TimeWindow
        opened={tool === "window"}
        onChange={opens("window")}
        anyTime={path === "/alerts"}
        comparable={path === "/"}
      />
      <RefreshButton />
      <ShareMenu />
    </>
  );
}

/** Tools is what the top bar has on every page: views, files, light or dark, and who is signed in. */
export function Tools({ onShortcuts }: { onShortcuts: () => void }) {
  return (
    <>
      <ViewsMenu />
      <TrayMenu />
      <ThemeMenu />
      <AccountMenu onShortcuts={onShortcuts} />
    </>
  );
}
