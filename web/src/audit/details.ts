/** Detail is one thing that was recorded with an entry. */
export type Detail = { name: string; value: string };

const names: Record<string, string> = {
  ip: "IP",
  requestId: "Request",
  memberId: "Member",
  tokenId: "Token",
  checkId: "Check",
  instanceId: "Server",
  databaseId: "Database",
  reportId: "Report",
  objectRef: "Object",
};

/** Words of a name that a program wrote: "reportRetentionDays" is "Report retention days". */
const words = (name: string) => {
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
};

/** A change has a before and an after and nothing else; a report's scope has from and to among others. */
const isChange = (value: object): value is { from: unknown; to: unknown } =>
  "from" in value && "to" in value && Object.keys(value).length === 2;

function written(value: unknown, nameOf: (id: string) => string | undefined): string {
  if (Array.isArray(value)) return value.map((item) => written(item, nameOf)).join(", ");
  if (typeof value === "object" && value !== null) {
    if (isChange(value)) return `${written(value.from, nameOf)} → ${written(value.to, nameOf)}`;
    return JSON.stringify(value);
  }
  const text = String(value);
  return nameOf(text) ?? text;
}

/**
 * detailsOf is an entry's data to read, in its own order. nameOf is the name behind an id; undefined leaves the id. What
 * is null or empty is left out.
 */
export function detailsOf(data: Record<string, unknown>, nameOf: (id: string) => string | undefined): Detail[] {
  return Object.entries(data)
    .filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => ({ name: names[name] ?? words(name), value: written(value, nameOf) }));
}
