import type { ReportKind } from "./kind";

export const digest: ReportKind = {
  card: {
    category: "Operations",
    name: "Daily Operations Digest",
    description:
      "The day on one page, and the same as its e-mail: what to do first, whether everything was heard, trouble, alerts, what is due.",
    audience: "Operations",
    cadence: "Daily",
    formats: ["PDF"],
  },
  preview: "daily-digest",
  short: "Daily digest",
  label: "Digest",
  oneInstance: false,
  database: false,
  windowDays: 1,
  comparable: false,
  activeOnly: false,
  contents: [
    "The day: the verdict and what to do first, whether servers, agents and feeds were heard, servers by trouble, alerts, what is due, backups and room, statements, and what could not be delivered",
  ],
};
