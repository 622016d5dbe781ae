import { useRouter } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { useAnchor } from "../window/scope";
import type { Ways } from "./navigation";
import type { Tool } from "./TopBar";
import { useShortcuts } from "./useShortcuts";

/** searchField is the page's own field to search in, which it marks with `data-search`, on itself or around it. */
function searchField(): HTMLElement | null {
  const marked = document.querySelector<HTMLElement>("[data-search]");
  return marked?.matches("input") ? marked : (marked?.querySelector("input") ?? null);
}

type Tools = { tool: Tool | null; open: (tool: Tool) => void };

/**
 * usePageShortcuts binds the shortcuts to the page: without a scope it has no filter and no window. Where a tool is
 * open or about to be there are none: who types on after its key means the tool, and no other page.
 */
export function usePageShortcuts(scoped: boolean, { scope, dashboard }: Ways, { tool, open }: Tools) {
  const router = useRouter();
  const session = useSession();
  const { move } = useAnchor();
  const filter = scoped ? () => open("filter") : undefined;
  const go = (to: string, permission: string, search: Ways["dashboard"] = {}) =>
    session.can(permission) ? () => router.navigate({ to, search: search as never }) : undefined;
  const taken = tool === "help" || (tool !== null && scoped);
  const actions = {
    help: () => open("help"),
    refresh: move,
    window: scoped ? () => open("window") : undefined,
    filter,
    search: () => {
      const field = searchField();
      if (field) field.focus();
      else filter?.();
    },
    dashboard: go("/", "metrics:read", dashboard),
    alerts: go("/alerts", "alerts:read", scope),
    instances: go("/instances", "metrics:read", scope.owner ? { owner: scope.owner } : {}),
    reports: go("/reports", "reports:read"),
    history: go("/reports/history", "reports:read"),
  };
  useShortcuts(taken ? {} : actions);
}
