import { Alert, Text } from "@mantine/core";
import { IconCloudOff } from "@tabler/icons-react";
import type { Schemas } from "../api/client";

type Missing = Schemas["UnavailableFigure"];

/** figureNames is what figures are called on the pages, by the last part of their path. */
const figureNames: Record<string, string> = {
  agent: "the agent",
  assessedAt: "the time of the assessment",
  certificateEndsInDays: "the certificate",
  changes: "what changed",
  connections: "connections",
  cores: "cores",
  cpuPercent: "CPU",
  criticalAlerts: "alerts",
  diskPercent: "disk",
  failedChecks: "score",
  firstSeenAt: "when statements were first seen",
  grantOnPrimary: "the primary",
  key: "keys",
  lastSeenAt: "last seen",
  memoryPercent: "memory",
  name: "names",
  names: "names",
  openAlerts: "alerts",
  ownStatements: "which statements are Muster's own",
  parts: "what is measured",
  previous: "the window before",
  previousFrom: "the window before",
  progress: "progress",
  sampledAt: "the last sample",
  score: "score",
  scoreHistory: "scores by day",
  scopeLabel: "what it covers",
  server: "which server answers",
  settings: "settings",
  sizeBytes: "sizes",
  sizeChange: "sizes",
  sort: "the order",
  states: "states",
  status: "state",
  statusSince: "state",
  text: "texts",
  timeline: "what happened",
  title: "names in titles",
  transactionIds: "transaction ids",
  triedAt: "state",
};

const lastOf = (figure: string) => figure.slice(figure.lastIndexOf(".") + 1);

/** named says which figures are missing, each once, in the order of the answer. */
export const named = (missing: Missing[]) => [
  ...new Set(missing.map(({ figure }) => figureNames[lastOf(figure)] ?? figureNames[figure] ?? figure)),
];

/**
 * NotAvailable says what of an answer could not be read, and why; nothing where all of it could. A process of before an
 * upgrade does not say it.
 */
export function NotAvailable({ missing }: { missing: Missing[] | undefined }) {
  if (!missing?.length) return null;
  const why = [...new Set(missing.map(({ sentence }) => sentence))];
  return (
    <Alert color="yellow" variant="outline" role="status" icon={<IconCloudOff aria-hidden />} data-not-available>
      <Text size="sm">
        <b>Not available right now: {named(missing).join(", ")}.</b> {why.join(" ")}
      </Text>
    </Alert>
  );
}
