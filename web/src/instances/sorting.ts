import type { instanceSorts } from "../url/schemas";

export type By = (typeof instanceSorts)[number];
export type Sort = By | `-${By}`;

/** first is the order that a column begins with: the troubled servers, the lowest score, whoever was seen longest ago, the most of everything else. */
export const first: Record<By, Sort> = {
  name: "name",
  owner: "owner",
  alerts: "-alerts",
  score: "score",
  cpu: "-cpu",
  disk: "-disk",
  connections: "-connections",
  lastSeenAt: "lastSeenAt",
};
