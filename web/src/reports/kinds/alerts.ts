import type { ReportKind } from "./kind";

export const alerts: ReportKind = {
  card: {
    category: "Operations",
    name: "Alerts Summary",
    description:
      "What was open, raised and resolved in a week or a month, how long it took, what recurs most, and who was told.",
    audience: "On-call lead",
    cadence: "Weekly or monthly",
    formats: ["PDF", "CSV"],
  },
  preview: "alerts-summary",
  short: "Alerts summary",
  label: "Alerts",
  oneInstance: false,
  database: false,
  windowDays: 31,
  comparable: false,
  activeOnly: false,
  contents: [
    "Balance",
    "Time to acknowledge and resolve",
    "Noisiest rules and servers",
    "Muted and accepted, by whom",
    "Told and not told",
    "As it stood at the end",
    "Method",
  ],
};
