import type { ReportKind } from "./kind";

export const sla: ReportKind = {
  card: {
    category: "Performance",
    name: "Performance & SLA Summary",
    description:
      "Whether servers kept their objectives in a month: up, down and unknown time, budgets, latency, costly statements, growth, and times to repair.",
    audience: "Service owner",
    cadence: "Monthly",
    formats: ["PDF", "CSV"],
  },
  preview: "performance-sla",
  short: "Performance & SLA",
  label: "SLA",
  oneInstance: false,
  database: false,
  windowDays: 92,
  comparable: false,
  activeOnly: false,
  contents: [
    "Objectives and windows",
    "Up, down, unknown",
    "Budget left and what used it",
    "Latency",
    "The statements that cost most",
    "Room and growth",
    "Detection and repair",
    "Method",
  ],
};
