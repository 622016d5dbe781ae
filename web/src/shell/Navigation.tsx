import { Link, useRouterState } from "@tanstack/react-router";
import { useSession } from "../api/session";
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
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
