import type { ReportKind } from "./kind";

export const security: ReportKind = {
  card: {
    category: "Security",
    name: "Security Report",
    description:
      "Known vulnerabilities of the versions you run, failed security checks, privileged accounts, and a remediation plan ordered by effect.",
    audience: "CISO, DBA lead",
    cadence: "Monthly or after an advisory",
    formats: ["PDF", "CSV"],
  },
  short: "Security",
  label: "Security",
  oneInstance: false,
  database: false,
  windowDays: null,
  comparable: true,
  activeOnly: true,
  contents: [
    "Summary",
    "Versions and known vulnerabilities",
    "Security findings",
    "Privileged accounts",
    "Remediation plan",
    "Coverage and methodology",
    "CVE appendix",
  ],
};
