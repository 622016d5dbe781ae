import { Link, useRouterState } from "@tanstack/react-router";
import { api } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { useAfterFirst } from "../chart/first";
import { allowed, entryOf, placeOf, searchTo, sections, type Ways } from "./navigation";

/** Navigation is the list of pages that the reader may see; ways go along to those that have a scope. */
export function Navigation({
  ways,
  opened,
  onNavigate,
}: {
  ways: Ways;
  /** On a narrow screen it covers the page while it is. */
  opened: boolean;
  onNavigate: () => void;
}) {
  const session = useSession();
  const down = useDown();
  const place = useRouterState({ select: (s) => placeOf(s.location.pathname) });
  const current = entryOf(place);
  return (
    <nav className="shell-nav" aria-label="Main" data-closed={!opened || undefined}>
      {sections.map((section) => {
        const lines = section.entries.flatMap((entry) => {
          const [first] = allowed(entry.pages, session);
          return first ? [{ ...entry, first }] : [];
        });
        if (lines.length === 0) return null;
        return (
          <div key={section.name} className="shell-section">
            <p id={`nav-${section.name}`}>{section.name}</p>
            <ul aria-labelledby={`nav-${section.name}`}>
              {lines.map(({ name, icon: Icon, first }) => {
                const here = current?.name === name;
                return (
                  <li key={name}>
                    <Link
                      to={first.to}
                      search={searchTo(first, ways) as never}
                      activeOptions={{ exact: true, includeSearch: false }}
                      aria-current={here ? (place === first.to ? "page" : "true") : undefined}
                      className="shell-link"
                      data-active={here || undefined}
                      onClick={onNavigate}
                    >
                      <Icon size={18} stroke={1.6} aria-hidden />
                      <span>{name}</span>
                      {first.to === "/instances" && down > 0 && <b className="shell-down">{down} down</b>}
                    </Link>
                  </li>
                );
              })}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

/** PagesBeside are the pages that share the line of the menu, as tabs above the page; ways go along to those that have a scope. */
export function PagesBeside({ ways }: { ways: Ways }) {
  const session = useSession();
  const place = useRouterState({ select: (s) => placeOf(s.location.pathname) });
  const entry = entryOf(place);
  const pages = allowed(entry?.pages ?? [], session);
  if (!entry || pages.length < 2) return null;
  return (
    <nav className="shell-beside" aria-label={entry.name}>
      <ul>
        {pages.map(({ to, name, ...takes }) => (
          <li key={to}>
            <Link
              to={to}
              search={searchTo({ to, ...takes }, ways) as never}
              activeOptions={{ exact: true, includeSearch: false }}
              aria-current={place === to ? "page" : undefined}
              data-active={place === to || undefined}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** useDown is how many servers of the organization are down, of all pages. It is asked for after what the page itself shows. */
function useDown(): number {
  const may = useSession().can("metrics:read");
  const path = useRouterState({ select: (s) => s.location.pathname });
  const afterFirst = useAfterFirst();
  const { data } = api.useQuery(
    "get",
    "/api/v1/health-checks/overview",
    { params: { query: {} } },
    { enabled: may && (afterFirst || path !== "/"), ...usePolling(() => 30_000) },
  );
  return data?.states?.down ?? 0;
}
