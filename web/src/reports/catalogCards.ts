import type { categories, kinds } from "../url/schemas";

export type Category = (typeof categories)[number];
export type Kind = (typeof kinds)[number];
export type PreviewName = "performance-sla" | "alerts-summary" | "daily-digest";

/** Card is one report of the catalog: requested where it has a kind, else looked at with sample data. */
export type Card = {
  category: Category;
  name: string;
  /** What is in it, in a sentence. */
  description: string;
  audience: string;
  cadence: string;
  formats: ("PDF" | "CSV")[];
  action: { request: Kind } | { open: PreviewName };
};

/** What each category answers, beside its name. */
export const questions: Record<Category, string> = {
  Posture: "How healthy is an instance?",
  Security: "What could be attacked, and what to do first?",
  Compliance: "Where is personal data, and is it protected?",
  Performance: "Did we meet our targets?",
  Operations: "What happened, and what needs attention?",
};

/** cards is the catalog: contract §9.10. */
export const cards: Card[] = [
  {
    category: "Posture",
    name: "Per-Instance Scorecard",
    description:
      "Health score of one instance from 0 to 100, with its utilization, its alerts and every check behind the score.",
    audience: "DBA lead, service owner",
    cadence: "Monthly or before a review",
    formats: ["PDF", "CSV"],
    action: { request: "InstanceScorecard" },
  },
  {
    category: "Security",
    name: "Security Report",
    description:
      "Known vulnerabilities of the versions you run, failed security checks, privileged accounts, and a remediation plan ordered by effect.",
    audience: "CISO, DBA lead",
    cadence: "Monthly or after an advisory",
    formats: ["PDF", "CSV"],
    action: { request: "Security" },
  },
  {
    category: "Compliance",
    name: "Data Inventory",
    description:
      "Tables with personal data by category, who can read them, whether they are encrypted, and a risk register.",
    audience: "DPO, auditor",
    cadence: "Quarterly",
    formats: ["PDF", "CSV"],
    action: { request: "DataInventory" },
  },
  {
    category: "Performance",
    name: "Performance & SLA Summary",
    description:
      "Availability and latency of each service against its target over a month, with missed targets and their causes.",
    audience: "Service owner",
    cadence: "Monthly",
    formats: ["PDF", "CSV"],
    action: { open: "performance-sla" },
  },
  {
    category: "Operations",
    name: "Alerts Summary",
    description: "Alerts raised and resolved per day, how long they lasted, and which recur most.",
    audience: "On-call lead",
    cadence: "Weekly",
    formats: ["PDF", "CSV"],
    action: { open: "alerts-summary" },
  },
  {
    category: "Operations",
    name: "Daily Operations Digest",
    description: "The last 24 hours on one page: silent instances, new alerts, filling disks and failed jobs.",
    audience: "Operations",
    cadence: "Daily",
    formats: ["PDF"],
    action: { open: "daily-digest" },
  },
];

/** cardOf is the catalog's card of a kind. */
export const cardOf = (kind: Kind): Card | undefined =>
  cards.find((card) => "request" in card.action && card.action.request === kind);
