import type { Schemas } from "../api/client";
import { engineName } from "../engines";
import { count } from "../ui/format";
import { namesNone, type Servers } from "../window/query";

const most = 500;

/** toggled adds an id to the chosen ones or takes it out; the API takes 500 of them. */
export function toggled(chosen: string[], id: string): string[] {
  if (chosen.includes(id)) return chosen.filter((other) => other !== id);
  return chosen.length < most ? [...chosen, id] : chosen;
}

/** matches says that an instance is found under what was typed: a part of its name, engine, version or host. */
export function matches(instance: Schemas["Instance"], query: string): boolean {
  const wanted = query.trim().toLowerCase();
  const { name, engine, version, host } = instance;
  return [name, engineName(engine), engine, version, host].some((text) => text?.toLowerCase().includes(wanted));
}

type State = { query: string; at: number; names: string[] };

/**
 * onKey is what a key does in the search field of the filter: it moves to another option, toggles the present one, or
 * (null) is the field's own. Space toggles, unless it can be part of a name that is being typed.
 */
export function onKey(key: string, { query, at, names }: State): { move?: number } | null {
  const last = names.length - 1;
  switch (key) {
    case "ArrowDown":
      return { move: at >= last ? 0 : at + 1 };
    case "ArrowUp":
      return { move: at <= 0 ? last : at - 1 };
    case "Enter":
      return {};
    case " ": {
      const longer = `${query} `.toLowerCase();
      return query !== "" && names.some((name) => name.toLowerCase().includes(longer)) ? null : {};
    }
    default:
      return null;
  }
}

/**
 * label is the filter in a few words. chosen is what the ids were resolved to and total how many instances there are,
 * as far as they are known: undefined and null until they are.
 */
export function label(servers: Servers, chosen: Schemas["Instance"][] | undefined, total: number | null): string {
  const { instanceId: ids, tag } = servers;
  if (namesNone(servers)) return "No instance matches";
  if (tag) return `${ids ? label({ instanceId: ids }, chosen, total) : "All"} with ${tag.join(", ")}`;
  if (ids === undefined) return "All instances";
  const [only] = chosen ?? [];
  if (ids.length === 1 && only) return only.name;
  return total === null ? `${count(ids.length)} chosen` : `${count(ids.length)} of ${count(total)}`;
}
