import type { Kind } from "./catalogCards";

/** contents are the sections of each report: service interface §4.10. */
export const contents: Record<Kind, string[]> = {
  Security: [
    "Summary",
    "Versions and known vulnerabilities",
    "Security findings",
    "Privileged accounts",
    "Remediation plan",
    "Coverage and methodology",
    "CVE appendix",
  ],
  InstanceScorecard: [
    "Overall health",
    "Resource utilization",
    "Alert history",
    "Remediation plan",
    "Recommendations",
    "Detailed results: performance, security, configuration, schema, maintenance",
  ],
  DataInventory: [
    "Summary",
    "Sensitive tables by category",
    "Encryption coverage",
    "Exceptions worklist",
    "Risk register",
    "Coverage and methodology",
  ],
};
