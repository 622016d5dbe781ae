import type { Schemas } from "../api/client";

type Server = Schemas["AnsweringServer"];

/** Kin is what a server is to the other copies of its cluster that are registered. */
export type Kin = { is: "standby" | "primary" | "copy"; of: Schemas["KnownServer"][] };

/**
 * kinOf tells a standby's primary, or a primary's standbys. Of two primaries of one cluster, one was restored from the
 * other's backup, or promoted, and it is not known whom a standby follows.
 */
export function kinOf({ role, related }: Server): Kin | null {
  if (related.length === 0) return null;
  const primaries = related.filter((one) => one.role === "primary");
  if (role === "standby" && primaries.length === 1) return { is: "standby", of: primaries };
  if (role === "primary" && primaries.length === 0) return { is: "primary", of: related };
  return { is: "copy", of: related };
}

const week = 7 * 24 * 60 * 60 * 1000;

/** isNews says whether people should still read of a move where they look at the server. */
export const isNews = (movedAt: string, now: Date) => now.getTime() - new Date(movedAt).getTime() < week;
