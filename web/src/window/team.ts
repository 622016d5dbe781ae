// How the API is asked for a team's servers where it has no parameter for the team.
import type { Schemas } from "../api/client";
import { byKey, words } from "../url/tagWords";
import type { Servers } from "./query";

type Team = Pick<Schemas["Team"], "selector" | "instanceCount" | "ownedCount">;

/** The API takes so many tags and so many ids. */
const mostTags = 100;
export const mostIds = 500;

/**
 * selected is the filter that leaves exactly the servers that a team owns, as its selector has it; null where the ids have
 * to be looked up. Tags are exact if no earlier team owns a server that the selector matches.
 */
export function selected({ selector, instanceCount, ownedCount }: Team): Servers | null {
  if (ownedCount === 0) return { instanceId: [] };
  if (ownedCount === null || ownedCount !== instanceCount || selector.instanceIds?.length) return null;
  const tag = words(selector.tags ?? {});
  return tag.length > 0 && tag.length <= mostTags ? { tag } : null;
}

/** within is the servers of a team that another filter leaves, too. */
export function within(team: Servers, chosen: Servers): Servers {
  const instanceId = both(team.instanceId, chosen.instanceId);
  const tag = team.tag && chosen.tag ? sharedTags(team.tag, chosen.tag) : (team.tag ?? chosen.tag);
  return { ...(instanceId && { instanceId }), ...(tag && { tag }) };
}

const both = (a: string[] | undefined, b: string[] | undefined) => (a && b ? a.filter((x) => b.includes(x)) : (a ?? b));

/** sharedTags is the tags that match what both match: for a key of both, the values of both. Without such a value it is none. */
function sharedTags(a: string[], b: string[]): string[] {
  if (a.length === 0 || b.length === 0) return [];
  const [first, second] = [byKey(a), byKey(b)];
  const keys = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  const values = keys.map((key) => [key, both(first[key], second[key]) ?? []] as const);
  return values.some(([, of]) => of.length === 0) ? [] : words(Object.fromEntries(values));
}
