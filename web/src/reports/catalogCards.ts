import { type Kind, kinds, reportKinds } from "./kinds";
import type { CardText, Category, PreviewName } from "./kinds/kind";

/** Card is one report of the catalog: requested where it has a kind, else looked at with sample data. */
export type Card = CardText & { action: { request: Kind; open?: PreviewName } | { open: PreviewName } };

/** What each category answers, beside its name. */
export const questions: Record<Category, string> = {
  Posture: "How healthy is an instance?",
  Security: "Which weaknesses exist, and which to fix first?",
  Compliance: "Where is personal data, and is it protected?",
  Performance: "Did we meet our targets?",
  Operations: "Which alerts were raised, and which need attention?",
};

/** samples are the cards of reports that are looked at with sample data: contract §9.10. */
export const samples: (CardText & { action: { open: PreviewName } })[] = [
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

/** cardsOf is the catalog by an organization's setting. Summaries are samples for "specification". */
export function cardsOf(catalog: string): Card[] {
  const requested = kinds.filter((kind) => catalog !== "specification" || !reportKinds[kind].preview);
  const made = requested.map((kind) => reportKinds[kind].preview);
  return [
    ...requested.map((kind): Card => {
      const { card, preview } = reportKinds[kind];
      return { ...card, action: { request: kind, ...(preview && { open: preview }) } };
    }),
    ...samples.filter((card) => !made.includes(card.action.open)),
  ];
}
