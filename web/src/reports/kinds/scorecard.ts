import type { ReportKind } from "./kind";

export const scorecard: ReportKind = {
  card: {
    category: "Posture",
    name: "Per-Instance Scorecard",
    description:
      "Health score of one instance from 0 to 100, with its utilization, its alerts and every check behind the score.",
    audience: "DBA lead, service owner",
    cadence: "Monthly or before a review",
    formats: ["PDF", "CSV"],
  },
  short: "Instance scorecard",
  label: "Scorecard",
  oneInstance: true,
  database: true,
  windowDays: 31,
  comparable: true,
  activeOnly: true,
  contents: [
    "Overall health",
    "Resource utilization",
    "Alert history",
    "Remediation plan",
    "Recommendations",
    "Detailed results: performance, security, configuration, schema, maintenance",
  ],
};
