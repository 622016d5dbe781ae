import {
  IconActivity,
  IconBell,
  IconBellRinging,
  IconFileCode,
  IconHeartRateMonitor,
  IconLayoutDashboard,
  IconReport,
  IconServer2,
  IconSettings,
  IconShieldExclamation,
  IconUsersGroup,
  type TablerIcon,
} from "@tabler/icons-react";
import { type Reader, type Role, standing } from "../api/session";
import { readers } from "../findings/may";
import type { ScopeSearch, ViewSearch } from "../window/scope";

/** The navigation: what is in it, for whom. A link without a permission is for everybody who is signed in. */
export type Destination = {
  to: string;
  name: string;
  permission?: string;
  roles?: readonly Role[];
  /** Not for somebody with the role team. */
  whole?: boolean;
  scoped?: boolean;
  /** Takes the team of the scope, and nothing else of it. */
  ofTeam?: boolean;
};

/** Ways is what goes along with a link: the scope to pages that have one, and to the dashboard what it shows beside. */
export type Ways = { scope: ScopeSearch; dashboard: ScopeSearch & ViewSearch };

/** searchTo is what stands in the address of a link to a page. */
export const searchTo = (
  { to, scoped, ofTeam }: Pick<Destination, "to" | "scoped" | "ofTeam">,
  { scope, dashboard }: Ways,
): ScopeSearch & ViewSearch => {
  if (to === "/") return dashboard;
  if (scoped) return scope;
  return ofTeam && scope.owner ? { owner: scope.owner } : {};
};

/** Entry is a line of the menu: a page, and the pages beside it, which the page shows as tabs. */
export type Entry = { name: string; icon: TablerIcon; pages: Destination[] };

const audit = "audit:read";
const ops = "ops:read";

/** The menu, at most twelve lines of it. A line leads to the first of its pages that its reader may see. */
export const sections: { name: string; entries: Entry[] }[] = [
  {
    name: "Now",
    entries: [
      {
        name: "Overview",
        icon: IconLayoutDashboard,
        pages: [{ to: "/", name: "Overview", permission: "metrics:read", scoped: true }],
      },
      {
        name: "Alerts",
        icon: IconBell,
        pages: [
          { to: "/alerts", name: "Alerts", permission: "alerts:read", scoped: true },
          { to: "/watch-rules", name: "Watch rules", permission: "metrics:read" },
          { to: "/maintenance-windows", name: "Maintenance windows", permission: "alerts:read" },
          { to: "/objectives", name: "Objectives", permission: "metrics:read" },
        ],
      },
      {
        name: "Servers",
        icon: IconServer2,
        pages: [{ to: "/instances", name: "Servers", permission: "metrics:read", ofTeam: true }],
      },
    ],
  },
  {
    name: "Load",
    entries: [
      {
        name: "Activity",
        icon: IconActivity,
        pages: [
          { to: "/activity", name: "Load", permission: "metrics:read", scoped: true },
          { to: "/blocking", name: "Blocking", permission: "metrics:read", scoped: true },
        ],
      },
      {
        name: "Queries",
        icon: IconFileCode,
        pages: [{ to: "/statements", name: "Queries", permission: "metrics:read", scoped: true }],
      },
    ],
  },
  {
    name: "Care",
    entries: [
      {
        name: "Findings",
        icon: IconShieldExclamation,
        pages: [
          { to: "/findings", name: "Findings", permission: "reports:download", roles: readers, ofTeam: true },
          { to: "/checks", name: "Checks", permission: "metrics:read" },
          { to: "/exceptions", name: "Exceptions", permission: "reports:read" },
        ],
      },
      {
        name: "Reports",
        icon: IconReport,
        pages: [
          { to: "/reports", name: "Catalog", permission: "reports:read" },
          { to: "/reports/history", name: "History", permission: "reports:read" },
          { to: "/schedules", name: "Schedules", permission: "reports:read" },
          { to: "/exports", name: "Downloads" },
          { to: "/reports/verify", name: "Verify", permission: "reports:read" },
        ],
      },
    ],
  },
  {
    name: "Set up",
    entries: [
      {
        name: "Notifications",
        icon: IconBellRinging,
        pages: [
          { to: "/notifications/rules", name: "Rules", permission: "admin" },
          { to: "/notifications/channels", name: "Channels", permission: "admin" },
          { to: "/notifications/deliveries", name: "Deliveries", permission: audit, whole: true },
        ],
      },
      { name: "Teams", icon: IconUsersGroup, pages: [{ to: "/teams", name: "Teams" }] },
      {
        name: "Settings",
        icon: IconSettings,
        pages: [
          { to: "/settings/organization", name: "Organization" },
          { to: "/settings/members", name: "Members" },
          { to: "/settings/tokens", name: "Tokens" },
          { to: "/settings/assistants", name: "AI assistants" },
          { to: "/audit", name: "Audit", permission: audit },
        ],
      },
      {
        name: "System health",
        icon: IconHeartRateMonitor,
        pages: [
          { to: "/ops/projections", name: "Projections", permission: ops },
          { to: "/ops/jobs", name: "Job queue", permission: ops },
          { to: "/ops/senders", name: "Senders", permission: ops },
          { to: "/ops/dead-letters", name: "Dead letters", permission: "admin" },
          { to: "/ops/outbox", name: "Outbox", permission: "admin" },
        ],
      },
    ],
  },
];

const pages = sections.flatMap((section) => section.entries.flatMap((entry) => entry.pages));
const addresses = pages.map(({ to }) => to);
const reportPage = /^\/reports\/[0-9a-f-]{36}$/;

/** entryOf is the line of the menu that a page belongs to. */
export const entryOf = (to: string | null) =>
  sections.flatMap((section) => section.entries).find((entry) => entry.pages.some((page) => page.to === to));

/** admits says that a page is for its reader. */
export const admits = (
  { permission, roles, whole }: Pick<Destination, "permission" | "roles" | "whole">,
  reader: Reader,
) =>
  (!permission || reader.can(permission)) &&
  (!roles || roles.includes(standing(reader))) &&
  !(whole && reader.role === "team");

/** allowed are the pages that their reader may see. */
export const allowed = (of: Destination[], reader: Reader) => of.filter((page) => admits(page, reader));

/** placeOf is the destination that an address belongs to: itself, the longest one above it, or null. */
export function placeOf(path: string): string | null {
  if (reportPage.test(path)) return "/reports/history";
  const above = addresses.filter((to) => path === to || (to !== "/" && path.startsWith(`${to}/`)));
  return above.sort((a, b) => b.length - a.length)[0] ?? null;
}
