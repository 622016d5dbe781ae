import type { ReportKind } from "./kind";

export const inventory: ReportKind = {
  card: {
    category: "Compliance",
    name: "Data Inventory",
    description:
      "Tables with personal data by category, who can read them, whether they are encrypted, and a risk register.",
    audience: "DPO, auditor",
    cadence: "Quarterly",
    formats: ["PDF", "CSV"],
  },
  short: "Data inventory",
  label: "Data Inventory",
  oneInstance: false,
  database: false,
  windowDays: null,
  comparable: false,
  activeOnly: false,
  contents: [
    "Summary",
    "Sensitive tables by category",
    "Encryption coverage",
    "Exceptions worklist",
    "Risk register",
    "Coverage and methodology",
  ],
};
