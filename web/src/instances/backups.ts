import type { components } from "../api/schema";
import { plural } from "../ui/format";

export type Backups = components["schemas"]["Backups"];
export type DatabaseBackups = components["schemas"]["DatabaseBackups"];
export type BackupDay = components["schemas"]["BackupDay"];
export type Kind = components["schemas"]["BackupKind"];
export type Source = components["schemas"]["BackupSource"];

export const kindNames: Record<Kind, string> = {
  full: "Full",
  base: "Base",
  differential: "Incremental",
  log: "Log",
  wal: "Archived WAL",
};

export const sourceNames: Record<Source, string> = {
  msdb: "msdb",
  rman: "RMAN",
  archiver: "Archiver",
  pgbackrest: "pgBackRest",
  barman: "barman",
  "wal-g": "WAL-G",
  feed: "Sent",
};

/** conditionNames are of sources. */
export const conditionNames: Record<components["schemas"]["BackupCondition"], string> = {
  works: "works",
  off: "switched off",
  unknown: "not known",
  idle: "does nothing",
  failing: "fails",
  refused: "another server",
};

/** objective is an RPO in words: "15 min", "24 h", "7 d". */
export function objective(minutes: number): string {
  if (minutes % 1440 === 0 && minutes > 1440) return `${minutes / 1440} d`;
  if (minutes % 60 === 0) return `${minutes / 60} h`;
  return `${minutes} min`;
}

/** keptDays says on how many of the days whose ages are known no backup was too old. */
export function keptDays(days: BackupDay[]): string {
  const known = days.filter((d) => d.kept !== null);
  if (known.length === 0) return "Backups of the last 30 days are not known.";
  const kept = known.filter((d) => d.kept).length;
  const rest = days.length - known.length;
  return `Kept on ${kept} of ${plural(known.length, "day")}${rest > 0 ? `, ${plural(rest, "day")} not known` : ""}`;
}

/** verdict is what the databases together come to. */
export function verdict({ counts }: Pick<Backups, "counts">): { tone: "good" | "bad" | "quiet"; words: string } {
  const late = counts.late + counts.none;
  const all = late + counts.kept + counts.unknown;
  if (late > 0 && all === 1) return { tone: "bad", words: counts.none > 0 ? "No backup" : "Older than the objective" };
  if (late > 0) return { tone: "bad", words: `${late} of ${plural(all, "database")} older than the objective` };
  if (counts.unknown > 0) return { tone: "quiet", words: "Not known" };
  return { tone: "good", words: "Within the objective" };
}
