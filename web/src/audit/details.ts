import { absoluteTime } from "../ui/format";
import { type NameOf, named } from "./sentence";

/** Detail is one thing that was recorded with an entry. */
export type Detail = { name: string; value: string };

/** What is worth a line beside the sentence, in this order, and what it is called. The rest is with the raw data. */
const shown: Record<string, string> = {
  ip: "IP address",
  component: "Done by",
  reason: "Reason",
  message: "Error",
  code: "Code",
  until: "Until",
  instanceId: "Instance",
  databaseId: "Database",
  objectRef: "Object",
  scopes: "Scopes",
  attempt: "Attempt",
  label: "Step",
  fileName: "File",
  pages: "Pages",
  added: "Added recipients",
  notAdded: "Recipients left out",
  recipientIds: "Recipients",
  rule: "Because of",
  nameChanged: "Name changed",
  reportRetentionDays: "Days that reports are kept",
  inputsRetentionDays: "Days that input data is kept",
  paperSize: "Paper size",
  statementTexts: "Texts of statements",
  sessionDetail: "Users of sessions",
  exceptionApproval: "Who grants exceptions",
  catalog: "Catalog of reports",
  protectedTags: "Protected tags",
  dueCritical: "Days until critical findings are due",
  dueHigh: "Days until high findings are due",
  dueMedium: "Days until medium findings are due",
  dueLow: "Days until low findings are due",
  set: "Set",
  removed: "Removed",
  silentMinutes: "Minutes until an instance counts as silent",
  volumePercent: "Volume threshold (%)",
  lockWaitMinutes: "Lock wait threshold (minutes)",
  advisoryLocks: "Alerts about advisory locks",
  wraparoundPercent: "Wraparound threshold (%)",
  from: "From",
  to: "To",
  sha256: "SHA-256",
  engine: "Engine",
  version: "Version",
  host: "Host",
};

const instant = /^\d{4}-\d\d-\d\dT/;

/** A change has a before and an after and nothing else; a report's scope has from and to among others. */
const isChange = (value: object): value is { from: unknown; to: unknown } =>
  "from" in value && "to" in value && Object.keys(value).length === 2;

function written(value: unknown, nameOf: NameOf): string {
  if (Array.isArray(value)) return value.map((item) => written(item, nameOf)).join(", ");
  if (typeof value === "object" && value !== null) {
    return isChange(value) ? `${written(value.from, nameOf)} → ${written(value.to, nameOf)}` : JSON.stringify(value);
  }
  if (value === true) return "yes";
  const text = String(value);
  return instant.test(text) ? absoluteTime(text) : named(text, nameOf);
}

const said = (value: unknown) =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

/** detailsOf is what an entry's data add to its sentence. What is null or empty is left out. */
export function detailsOf(data: Record<string, unknown>, nameOf: NameOf): Detail[] {
  return Object.entries(shown)
    .filter(([field]) => said(data[field]))
    .map(([field, name]) => ({ name, value: written(data[field], nameOf) }));
}
