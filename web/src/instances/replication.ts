import type { Schemas } from "../api/client";
import { bytes, seconds } from "../ui/format";

export type Replication = Schemas["Replication"];
export type Node = Schemas["ReplicationNode"];
export type Edge = Schemas["ReplicationEdge"];
export type Condition = Schemas["ReplicationCondition"];
export type Role = Schemas["ReplicationRole"];

/** Branch is a server with those that follow it. */
export type Branch = { node: Node; edge: Edge | null; children: Branch[] };

/**
 * treesOf are the servers of a picture from those that follow nobody on. A server that follows two stands below both, with
 * its own followers below the first; a circle ends where it began.
 */
export function treesOf({ nodes, edges }: Pick<Replication, "nodes" | "edges">): Branch[] {
  const placed = new Set<number>();
  const branch = (at: number, edge: Edge | null): Branch[] => {
    const node = nodes[at];
    if (!node) return [];
    const again = placed.has(at);
    placed.add(at);
    const below = again ? [] : edges.filter(({ from }) => from === at);
    return [{ node, edge, children: below.flatMap((e) => branch(e.to, e)) }];
  };
  const roots = nodes.flatMap((_, at) => (edges.some(({ to }) => to === at) ? [] : branch(at, null)));
  const circles = nodes.flatMap((_, at) => (placed.has(at) ? [] : branch(at, null)));
  return [...roots, ...circles];
}

/** keyOf is what tells the branches at one place apart. */
export const keyOf = ({ node, edge }: Branch): string =>
  [node.instance?.id ?? node.name, edge?.from, edge?.to, edge?.kind, edge?.group].join(" ");

export const roleNames: Record<Role, string> = {
  primary: "primary",
  standby: "standby",
  mixed: "primary and secondary",
  resolving: "resolving",
  alone: "no availability group",
};

export const conditionNames: Record<Condition, string> = {
  works: "works",
  catchingUp: "catching up",
  paused: "paused",
  inactive: "no consumer",
  gone: "not connected",
  broken: "broken",
};

/** behind is how far somebody lags: "74 s, 412 MB behind". Not known is not zero. */
export function behind({ lagSeconds, lagBytes }: Pick<Edge, "lagSeconds" | "lagBytes">): string {
  const parts: string[] = [];
  if (lagSeconds !== null) parts.push(seconds(lagSeconds));
  if (lagBytes !== null && (lagBytes > 0 || lagSeconds === null)) parts.push(bytes(lagBytes));
  return parts.length === 0 ? "lag unknown" : `${parts.join(", ")} behind`;
}

type Slot = Replication["slots"][number];

/** heldBack is how much log a slot holds back. Unknown is not nothing. */
export const heldBack = ({ retainedBytes }: Pick<Slot, "retainedBytes">): string =>
  retainedBytes === null ? "amount held back unknown" : `holds back ${bytes(retainedBytes)}`;

/**
 * lostAfter is how much may be written before a slot loses what it needs. A lost slot has nothing more to lose. A server
 * that does not report walStatus does not report the limit either: PostgreSQL has both from version 13 on.
 */
export function lostAfter({ walStatus, safeBytes }: Pick<Slot, "walStatus" | "safeBytes">): string | null {
  if (walStatus === null || walStatus === "lost") return null;
  return safeBytes === null ? "no limit" : `lost after ${bytes(Math.max(0, safeBytes))} more`;
}

/** shows says whether there is anything to draw. */
export const shows = (r: Replication): boolean =>
  r.nodes.length > 1 ||
  r.slots.length + r.subscriptions.length > 0 ||
  (r.role !== null && r.role !== "primary" && r.role !== "alone");
