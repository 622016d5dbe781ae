import type { Schemas } from "../api/client";

/** SettingsForm is the organization's settings, flat as a form has them. */
export type SettingsForm = {
  name: string;
  reportRetentionDays: number | string;
  inputsRetentionDays: number | string;
  paperSize: string;
  statementTexts: string;
  sessionDetail: string;
  exceptionApproval: string;
  catalog: string;
  /** Keys of tags, with commas between them. */
  protectedTags: string;
  dueCritical: number | string;
  dueHigh: number | string;
  dueMedium: number | string;
  dueLow: number | string;
  silentMinutes: number | string;
  volumePercent: number | string;
  lockWaitMinutes: number | string;
  wraparoundPercent: number | string;
  advisoryLocks: string;
};

export type Setting = keyof SettingsForm;

const dueIn = (severity: string) => ({
  label: `${severity} findings are due after`,
  does: `Days from the first assessment that found a ${severity.toLowerCase()} finding until it is due. Applies to existing findings at once.`,
  unit: "days",
  min: 1,
  max: 3650,
});

/** What each setting is called, what it does, its unit and its bounds; the API refuses what is outside of them. */
export const settings: Record<Setting, { label: string; does: string; unit?: string; min?: number; max?: number }> = {
  name: { label: "Name", does: "Shown in the top bar and on the cover of every report." },
  reportRetentionDays: {
    label: "Reports are kept for",
    does: "Days until a PDF and its link expire. Existing reports keep the setting they were built with.",
    unit: "days",
    min: 1,
    max: 365,
  },
  inputsRetentionDays: {
    label: "Report inputs are kept for",
    does: "Days that a report's inputs are kept, so that its PDF can still be verified after it has expired. They are as confidential as the PDF.",
    unit: "days",
    min: 1,
    max: 3650,
  },
  paperSize: { label: "Paper size", does: "For reports built from now on." },
  statementTexts: {
    label: "Texts of statements",
    does: "Muster can keep the SQL text of your servers’ statements. It removes literals and comments before it stores a text; names of tables and columns stay. Turning this off deletes the texts at once. Viewers never see them.",
  },
  sessionDetail: {
    label: "Users of sessions",
    does: "Muster can keep which users, applications and clients the active sessions on your servers belong to. Turning this off deletes these names at once. Viewers never see them.",
  },
  exceptionApproval: {
    label: "Exceptions are granted by",
    does: "With “another administrator”, administrators cannot grant their own requests (four eyes). You need two administrators.",
  },
  catalog: {
    label: "Catalog of reports",
    does: "With previews only, the catalog shows the summaries with sample data. Schedules and the API still make them.",
  },
  protectedTags: {
    label: "Protected tags",
    does: "Keys of tags that only administrators set, separated by commas, such as team, env.",
  },
  dueCritical: dueIn("Critical"),
  dueHigh: dueIn("High"),
  dueMedium: dueIn("Medium"),
  dueLow: dueIn("Low"),
  silentMinutes: {
    label: "An instance is silent after",
    does: "Minutes without a response or sample before Muster raises an alert.",
    unit: "minutes",
    min: 1,
    max: 1440,
  },
  volumePercent: {
    label: "A volume is full at",
    does: "Used space (%) of a host's volume at which Muster raises an alert.",
    unit: "%",
    min: 1,
    max: 100,
  },
  lockWaitMinutes: {
    label: "A lock wait is long after",
    does: "Minutes that a session waits for a lock before Muster raises an alert.",
    unit: "minutes",
    min: 1,
    max: 1440,
  },
  wraparoundPercent: {
    label: "Wraparound is near at",
    does: "Share of transaction ids used (%) at which Muster raises an alert.",
    unit: "%",
    min: 1,
    max: 100,
  },
  advisoryLocks: {
    label: "Waits for advisory locks",
    does: "Applications define these locks themselves and may hold them on purpose (also sp_getapplock and DBMS_LOCK). The Blocking page shows waits for them either way.",
  },
};

/** choices are the values of a setting that has but a few. */
export const choices: Partial<Record<Setting, { value: string; label: string }[]>> = {
  paperSize: [
    { value: "A4", label: "A4" },
    { value: "Letter", label: "Letter" },
  ],
  statementTexts: [
    { value: "off", label: "Keep none" },
    { value: "normalized", label: "Keep without literals" },
  ],
  sessionDetail: [
    { value: "on", label: "Keep their names" },
    { value: "off", label: "Keep none" },
  ],
  advisoryLocks: [
    { value: "on", label: "Raise alerts" },
    { value: "off", label: "Raise no alerts" },
  ],
  exceptionApproval: [
    { value: "any", label: "Any administrator" },
    { value: "another", label: "Another administrator" },
  ],
  catalog: [
    { value: "all", label: "Every report" },
    { value: "specification", label: "Summaries as previews" },
  ],
};

/** groups is the order in which the settings are shown. */
export const groups: { name: string; of: Setting[] }[] = [
  { name: "Organization", of: ["name"] },
  { name: "Reports", of: ["reportRetentionDays", "inputsRetentionDays", "paperSize", "catalog"] },
  { name: "Statements and sessions", of: ["statementTexts", "sessionDetail"] },
  { name: "Findings", of: ["dueCritical", "dueHigh", "dueMedium", "dueLow", "exceptionApproval"] },
  { name: "Tags", of: ["protectedTags"] },
  { name: "Watch", of: ["silentMinutes", "volumePercent", "lockWaitMinutes", "advisoryLocks", "wraparoundPercent"] },
];

const thresholds = ["silentMinutes", "volumePercent", "lockWaitMinutes", "wraparoundPercent"] as const;

/** watched are the settings that the API has in `watch`. */
export const watched: Setting[] = [...thresholds, "advisoryLocks"];

/** dueDays are the settings of when findings are due, by the names that the API has for their severities. */
export const dueDays = { dueCritical: "critical", dueHigh: "high", dueMedium: "medium", dueLow: "low" } as const;
const allDue = Object.keys(dueDays) as (keyof typeof dueDays)[];

const keysOf = (text: string) => [
  ...new Set(
    text
      .split(",")
      .map((key) => key.trim())
      .filter((key) => key !== ""),
  ),
];

/** formOf is an organization's settings as a form has them. */
export const formOf = (o: Schemas["Organization"]): SettingsForm => ({
  name: o.name,
  reportRetentionDays: o.reportRetentionDays,
  inputsRetentionDays: o.inputsRetentionDays,
  paperSize: o.paperSize,
  statementTexts: o.statementTexts,
  sessionDetail: o.sessionDetail,
  exceptionApproval: o.exceptionApproval,
  catalog: o.catalog,
  protectedTags: o.protectedTags.join(", "),
  dueCritical: o.dueDays.critical,
  dueHigh: o.dueDays.high,
  dueMedium: o.dueDays.medium,
  dueLow: o.dueDays.low,
  ...o.watch,
});

/** changesBetween is what a change sends: only what differs; null where nothing does. */
export function changesBetween(from: SettingsForm, to: SettingsForm): Schemas["ChangeOrganization"] | null {
  const differs = (setting: Setting) => String(from[setting]).trim() !== String(to[setting]).trim();
  const keys = keysOf(to.protectedTags);
  const due: NonNullable<Schemas["ChangeOrganization"]["dueDays"]> = {};
  for (const setting of allDue) if (differs(setting)) due[dueDays[setting]] = Number(to[setting]);
  const watch: NonNullable<Schemas["ChangeOrganization"]["watch"]> = {};
  for (const setting of thresholds) if (differs(setting)) watch[setting] = Number(to[setting]);
  if (differs("advisoryLocks")) watch.advisoryLocks = to.advisoryLocks as "off" | "on";
  const change: Schemas["ChangeOrganization"] = {
    ...(differs("name") && { name: to.name.trim() }),
    ...(differs("reportRetentionDays") && { reportRetentionDays: Number(to.reportRetentionDays) }),
    ...(differs("inputsRetentionDays") && { inputsRetentionDays: Number(to.inputsRetentionDays) }),
    ...(differs("paperSize") && { paperSize: to.paperSize as "A4" | "Letter" }),
    ...(differs("statementTexts") && { statementTexts: to.statementTexts as "off" | "normalized" }),
    ...(differs("sessionDetail") && { sessionDetail: to.sessionDetail as "off" | "on" }),
    ...(differs("exceptionApproval") && { exceptionApproval: to.exceptionApproval as "any" | "another" }),
    ...(differs("catalog") && { catalog: to.catalog as "all" | "specification" }),
    ...(keys.join() !== keysOf(from.protectedTags).join() && { protectedTags: keys }),
    ...(Object.keys(due).length > 0 && { dueDays: due }),
    ...(Object.keys(watch).length > 0 && { watch }),
  };
  return Object.keys(change).length > 0 ? change : null;
}

/** outOfBounds says what is wrong with a setting's value; null is nothing. */
export function outOfBounds(setting: Setting, value: number | string): string | null {
  const { min, max } = settings[setting];
  if (setting === "name") return String(value).trim() === "" ? "Enter a name." : null;
  if (setting === "protectedTags") {
    const none = keysOf(String(value)).find((key) => !/^[a-z][a-z0-9_.-]{0,62}$/.test(key));
    return none === undefined ? null : `“${none}” is no key: it begins with a lower-case letter and has no spaces.`;
  }
  if (min === undefined || max === undefined) return null;
  const n = typeof value === "number" ? value : Number(value.trim() || Number.NaN);
  return Number.isInteger(n) && n >= min && n <= max ? null : `Must be a whole number from ${min} to ${max}.`;
}

/** written is a setting's value as it is read: in words, or with its unit. */
export const written = (setting: Setting, value: number | string) =>
  choices[setting]?.find((choice) => choice.value === value)?.label ??
  [value, settings[setting].unit].filter((part) => part !== undefined).join(" ");

/** rebased is what somebody wants who made to of from, now that theirs is in force: their own changes, and else what is. */
export function rebased(from: SettingsForm, to: SettingsForm, theirs: SettingsForm): SettingsForm {
  const changed = Object.entries(to).filter(([name, value]) => String(from[name as Setting]) !== String(value));
  return { ...theirs, ...Object.fromEntries(changed) };
}
