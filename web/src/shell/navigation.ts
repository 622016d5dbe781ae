/** The navigation: what is in it, for whom. A link without a permission is for everybody who is signed in. */
export type Destination = { to: string; name: string; permission?: string; scoped?: boolean };

export const sections: { name: string; links: Destination[] }[] = [
  {
    name: "Fleet",
    links: [
      { to: "/", name: "Dashboard", permission: "metrics:read", scoped: true },
      { to: "/alerts", name: "Alerts", permission: "alerts:read", scoped: true },
      { to: "/instances", name: "Instances", permission: "metrics:read" },
    ],
  },
  {
    name: "Reports",
    links: [
      { to: "/reports", name: "Catalog", permission: "reports:read" },
      { to: "/reports/history", name: "History", permission: "reports:read" },
      { to: "/exports", name: "Downloads" },
      { to: "/reports/verify", name: "Verify", permission: "reports:read" },
      { to: "/exceptions", name: "Exceptions", permission: "reports:read" },
    ],
  },
  {
    name: "Organization",
    links: [
      { to: "/settings/members", name: "Members" },
      { to: "/settings/tokens", name: "Tokens" },
      { to: "/settings/organization", name: "Organization" },
      { to: "/audit", name: "Audit", permission: "audit:read" },
    ],
  },
  {
    name: "Operations",
    links: [
      { to: "/ops/projections", name: "Projections", permission: "ops:read" },
      { to: "/ops/jobs", name: "Job queue", permission: "ops:read" },
      { to: "/ops/dead-letters", name: "Dead letters", permission: "admin" },
      { to: "/ops/outbox", name: "Outbox", permission: "admin" },
    ],
  },
];
