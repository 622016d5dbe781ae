/** What each scope lets a token do, in the contract's order. */
export const scopes: { scope: string; may: string }[] = [
  { scope: "metrics:read", may: "Read instances, key figures and measurements" },
  { scope: "alerts:read", may: "Read alerts" },
  { scope: "alerts:write", may: "Acknowledge, mute and resolve alerts, tag instances, assign findings" },
  { scope: "reports:read", may: "Read the list of reports and exceptions, verify a PDF" },
  { scope: "reports:create", may: "Request reports and exceptions" },
  { scope: "reports:download", may: "Download reports" },
  { scope: "members:read", may: "Read the list of members" },
  { scope: "marks:write", may: "Set marks on charts, such as deployments, and remove them" },
  { scope: "audit:read", may: "Read the audit list" },
  { scope: "ops:read", may: "Read projections and the job queue" },
  { scope: "ingest:write", may: "Send instances, alerts and samples" },
  { scope: "admin", may: "Everything, including members, tokens and settings" },
];
