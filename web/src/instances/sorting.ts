import type { instanceSorts } from "../url/schemas";

export type By = (typeof instanceSorts)[number];
export type Sort = By | `-${By}`;

/** first is the order that a column begins with: the troubled servers, the lowest score, whoever was seen longest ago, the first to be full, the most of everything else. */
export const first: Record<By, Sort> = {
  name: "name",
  owner: "owner",
  alerts: "-alerts",
  score: "score",
  cpu: "-cpu",
  disk: "-disk",
  connections: "-connections",
  lag: "-lag",
  backup: "-backup",
  full: "full",
  lastSeenAt: "lastSeenAt",
};

/** sortNames are the orders, for people. */
export const sortNames: [Sort, string][] = [
  ["name", "Name"],
  ["-name", "Name, from Z"],
  ["-alerts", "Alerts, critical first"],
  ["alerts", "Alerts, fewest first"],
  ["score", "Score, lowest first"],
  ["-score", "Score, highest first"],
  ["-cpu", "CPU, highest first"],
  ["cpu", "CPU, lowest first"],
  ["-disk", "Disk, fullest first"],
  ["disk", "Disk, emptiest first"],
  ["full", "Days until full, fewest first"],
  ["-full", "Days until full, most first"],
  ["-lag", "Replication lag, longest first"],
  ["lag", "Replication lag, shortest first"],
  ["-backup", "Backup, oldest first"],
  ["backup", "Backup, newest first"],
  ["-connections", "Connections, most first"],
  ["connections", "Connections, fewest first"],
  ["lastSeenAt", "Last seen, longest ago first"],
  ["-lastSeenAt", "Last seen, latest first"],
];
