import type { Schemas } from "../api/client";
import { count, plural } from "../ui/format";

export type Refused = { id: string; name: string; why: string };

/** outcomeOf is what came of a change of many instances' tags: in a sentence, and which were refused, and why. */
export function outcomeOf(
  items: readonly Schemas["ActedOnOne"][],
  instances: readonly { id: string; name: string }[],
): { said: string; refused: Refused[] } {
  const names = new Map(instances.map(({ id, name }) => [id, name]));
  const refused = items.flatMap(({ id, done, problem }) =>
    done ? [] : [{ id, name: names.get(id) ?? id, why: problem?.detail ?? "" }],
  );
  const done = items.length - refused.length;
  const of = refused.length === 0 ? "" : `${count(done)} of `;
  return {
    said: done === 0 ? "No tag was changed." : `The tags of ${of}${plural(items.length, "instance")} are saved.`,
    refused,
  };
}

/** keysOf is the keys of the tags that some of the instances have. */
export const keysOf = (instances: readonly { tags: Record<string, string> }[]): string[] =>
  [...new Set(instances.flatMap(({ tags }) => Object.keys(tags)))].sort();
