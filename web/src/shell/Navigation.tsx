import { Link, useRouterState } from "@tanstack/react-router";
import { api } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { useAfterFirst } from "../chart/first";
import { placeOf, searchTo, sections, type Ways } from "./navigation";

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
  const allowed = sections
    .map((section) => ({
      ...section,
      links: section.links.filter(
        (l) => (!l.permission || session.can(l.permission)) && (!l.roles || l.roles.includes(session.role)),
      ),
    }))
    .filter((section) => section.links.length > 0);
  return (
    <nav className="shell-nav" aria-label="Main" data-closed={!opened || undefined}>
      {allowed.map((section) => (
        <div key={section.name} className="shell-section">
          <p id={`nav-${section.name}`}>{section.name}</p>
          <ul aria-labelledby={`nav-${section.name}`}>
            {section.links.map(({ to, name, icon: Icon, scoped }) => (
              <li key={to}>
                <Link
                  to={to}
                  search={searchTo({ to, scoped }, ways) as never}
                  activeOptions={{ exact: true, includeSearch: false }}
                  aria-current={place === to ? "page" : undefined}
                  className="shell-link"
                  data-active={place === to || undefined}
                  onClick={onNavigate}
                >
                  <Icon size={18} stroke={1.6} aria-hidden />
                  <span>{name}</span>
                  {to === "/instances" && down > 0 && <b className="shell-down">{down} down</b>}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
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
