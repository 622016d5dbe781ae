import type { Schemas } from "../api/client";
import { bytes, plural } from "../ui/format";

export type Capacity = Schemas["Capacity"];
export type Size = Schemas["CapacitySize"];
export type Maintenance = Schemas["Maintenance"];

/** reasons say why there is no date. */
export const reasons: Record<Schemas["CapacityReason"], string> = {
  notMeasured: "not measured",
  noLimit: "no limit",
  stale: "not measured for two days",
  tooShort: "no date: less than 7 days measured",
  sawTooth: "rises and falls: no date can be given",
  step: "jumped less than 7 days ago: no date yet",
  notGrowing: "does not grow",
  noise: "varies more than it grows: no date can be given",
  far: "not full within two years",
};

export const kinds: Record<Schemas["CapacityKind"], string> = {
  volume: "Volume",
  tablespace: "Tablespace",
  database: "Database",
};

/** called is the kind of something and its name, unless the name says it. */
export function called(s: Pick<Size, "kind" | "name">): string {
  if (!/^(filegroup|log of|disk group|recovery area) /.test(s.name)) return `${kinds[s.kind]} ${s.name}`;
  return s.name.charAt(0).toUpperCase() + s.name.slice(1);
}

const day = new Intl.DateTimeFormat("en-US", { weekday: "short", month: "short", day: "numeric" });

/** fullIn is when something is full, or why no date is known; now is the time of the question. */
export function fullIn(s: Size, now: Date): string {
  if (s.daysUntilFull === null) return s.reason === null ? "–" : reasons[s.reason];
  if (s.daysUntilFull === 0) return s.usedPercent !== null && s.usedPercent >= 100 ? "full" : "full at any time";
  const on = new Date(now.getTime() + s.daysUntilFull * 86_400_000);
  return `full in ${plural(Math.ceil(s.daysUntilFull), "day")}, ${day.format(on)}`;
}

/** between are the bounds of a date. */
export function between(s: Size, confidence: number): string | null {
  if (s.soonestDays === null || s.latestDays === null || s.daysUntilFull === 0) return null;
  return `${Math.round(confidence * 100)} % confidence: in ${Math.floor(s.soonestDays)} to ${plural(Math.ceil(s.latestDays), "day")}`;
}

/** level is how much is used, of how much. */
export function level(s: Size): string {
  const percent = s.usedPercent === null ? null : `${Math.round(s.usedPercent)} %`;
  if (s.usedBytes === null) return percent ?? "–";
  if (s.limitBytes === null) return bytes(s.usedBytes);
  return `${percent} of ${bytes(s.limitBytes)}`;
}

/** grows is how much something grows in a day. */
export function grows(s: Size): string {
  const sign = (n: number) => (n < 0 ? "−" : "+");
  if (s.perDayBytes !== null) return `${sign(s.perDayBytes)}${bytes(Math.abs(s.perDayBytes))} a day`;
  if (s.perDayPercent !== null) return `${sign(s.perDayPercent)}${Math.abs(s.perDayPercent).toFixed(2)} points a day`;
  return "–";
}

/** worst are the sizes that the section lists at first: all volumes and tablespaces, and the greatest databases. */
export const worst = (sizes: Size[], most = 5) => {
  const databases = sizes.filter((s) => s.kind === "database");
  return [...sizes.filter((s) => s.kind !== "database").slice(0, 12), ...databases.slice(0, most)];
};

/** urgent says whether a date is near. */
export const urgent = (s: Size) => s.daysUntilFull !== null && s.daysUntilFull <= 7;
