import {
  IconBell,
  IconBellRinging,
  IconBroadcast,
  IconBuilding,
  IconCalendarRepeat,
  IconClipboardOff,
  IconDownload,
  IconFileCheck,
  IconFileCode,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconListCheck,
  IconListDetails,
  IconListSearch,
  IconMail,
  IconMailX,
  IconPlugConnected,
  IconReport,
  IconSend,
  IconServer2,
  IconShieldExclamation,
  IconStack2,
  IconUsers,
  type TablerIcon,
} from "@tabler/icons-react";
import type { Role } from "../api/session";
import { readers } from "../findings/may";
import type { ScopeSearch, ViewSearch } from "../window/scope";

/** The navigation: what is in it, for whom. A link without a permission is for everybody who is signed in. */
export type Destination = {
  to: string;
  name: string;
  icon: TablerIcon;
  permission?: string;
  roles?: readonly Role[];
  scoped?: boolean;
};

/** Ways is what goes along with a link: the scope to pages that have one, and to the dashboard what it shows beside. */
export type Ways = { scope: ScopeSearch; dashboard: ScopeSearch & ViewSearch };

/** searchTo is what stands in the address of a link to a page. */
export const searchTo = ({ to, scoped }: Pick<Destination, "to" | "scoped">, { scope, dashboard }: Ways) =>
  to === "/" ? dashboard : scoped ? scope : {};

export const sections: { name: string; links: Destination[] }[] = [
  {
    name: "Fleet",
    links: [
      { to: "/", name: "Dashboard", icon: IconLayoutDashboard, permission: "metrics:read", scoped: true },
      { to: "/alerts", name: "Alerts", icon: IconBell, permission: "alerts:read", scoped: true },
      { to: "/statements", name: "Statements", icon: IconFileCode, permission: "metrics:read", scoped: true },
      { to: "/instances", name: "Instances", icon: IconServer2, permission: "metrics:read" },
      {
        to: "/findings",
        name: "Findings",
        icon: IconShieldExclamation,
        permission: "reports:download",
        roles: readers,
      },
      { to: "/checks", name: "Checks", icon: IconListCheck, permission: "metrics:read" },
    ],
  },
  {
    name: "Reports",
    links: [
      { to: "/reports", name: "Catalog", icon: IconReport, permission: "reports:read" },
      { to: "/reports/history", name: "History", icon: IconHistory, permission: "reports:read" },
      { to: "/schedules", name: "Schedules", icon: IconCalendarRepeat, permission: "reports:read" },
      { to: "/exports", name: "Downloads", icon: IconDownload },
      { to: "/reports/verify", name: "Verify", icon: IconFileCheck, permission: "reports:read" },
      { to: "/exceptions", name: "Exceptions", icon: IconClipboardOff, permission: "reports:read" },
    ],
  },
  {
    name: "Notifications",
    links: [
      { to: "/notifications/rules", name: "Rules", icon: IconBellRinging, permission: "admin" },
      { to: "/notifications/channels", name: "Channels", icon: IconBroadcast, permission: "admin" },
      { to: "/notifications/deliveries", name: "Deliveries", icon: IconSend, permission: "audit:read" },
    ],
  },
  {
    name: "Organization",
    links: [
      { to: "/settings/members", name: "Members", icon: IconUsers },
      { to: "/settings/tokens", name: "Tokens", icon: IconKey },
      { to: "/settings/organization", name: "Organization", icon: IconBuilding },
      { to: "/audit", name: "Audit", icon: IconListSearch, permission: "audit:read" },
    ],
  },
  {
    name: "Operations",
    links: [
      { to: "/ops/projections", name: "Projections", icon: IconStack2, permission: "ops:read" },
      { to: "/ops/jobs", name: "Job queue", icon: IconListDetails, permission: "ops:read" },
      { to: "/ops/senders", name: "Senders", icon: IconPlugConnected, permission: "ops:read" },
      { to: "/ops/dead-letters", name: "Dead letters", icon: IconMailX, permission: "admin" },
      { to: "/ops/outbox", name: "Outbox", icon: IconMail, permission: "admin" },
    ],
  },
];

const addresses = sections.flatMap((section) => section.links.map((link) => link.to));
const reportPage = /^\/reports\/[0-9a-f-]{36}$/;

/** placeOf is the destination that an address belongs to: itself, the longest one above it, or null. */
export function placeOf(path: string): string | null {
  if (reportPage.test(path)) return "/reports/history";
  const above = addresses.filter((to) => path === to || (to !== "/" && path.startsWith(`${to}/`)));
  return above.sort((a, b) => b.length - a.length)[0] ?? null;
}
