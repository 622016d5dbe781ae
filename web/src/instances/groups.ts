import { type Instance, type Status, statuses } from "./states";

/** Group is the servers that have one value of a tag. */
export type Group = {
  /** null: those without the tag. */
  value: string | null;
  instances: number;
  worst: Status;
  /** How many are in each state, the worst first; states that none is in are left out. */
  counts: [Status, number][];
  /** null: they are not known of any. */
  openAlerts: number | null;
  criticalAlerts: number;
};

type Grouped = Pick<Instance, "status" | "tags" | "health">;

/** groupsOf groups servers by the value that a tag has: those with the worst state first, then by value; those without it last. */
export function groupsOf(instances: readonly Grouped[], key: string): Group[] {
  const by = new Map<string | null, Grouped[]>();
  for (const i of instances) {
    const value = i.tags[key] ?? null;
    by.set(value, [...(by.get(value) ?? []), i]);
  }
  const rank = (group: Group) => (group.value === null ? statuses.length : statuses.indexOf(group.worst));
  return [...by]
    .map(([value, of]) => groupOf(value, of))
    .sort((a, b) => rank(a) - rank(b) || (a.value ?? "").localeCompare(b.value ?? ""));
}

function groupOf(value: string | null, of: readonly Grouped[]): Group {
  const counts = statuses.flatMap((status): [Status, number][] => {
    const n = of.filter((i) => i.status === status).length;
    return n > 0 ? [[status, n]] : [];
  });
  const alerts = of.flatMap(({ health }) => health?.openAlerts ?? []);
  return {
    value,
    instances: of.length,
    worst: counts[0]?.[0] ?? "unknown",
    counts,
    openAlerts: alerts.length > 0 ? alerts.reduce((sum, n) => sum + n, 0) : null,
    criticalAlerts: of.reduce((sum, { health }) => sum + (health?.criticalAlerts ?? 0), 0),
  };
}
