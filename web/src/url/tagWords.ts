/** written are tags as words, by key: "env:prod". */
export const written = (tags: Record<string, string>) =>
  Object.entries(tags)
    .map(([key, value]) => `${key}:${value}`)
    .sort();

const form = /^([a-z][a-z0-9_.-]{0,62}):(.+)$/u;

/** read are the tags of words that are all readable; of one key the last word counts. */
export const read = (words: string[]): Record<string, string> =>
  Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf(":");
      return [word.slice(0, at), word.slice(at + 1).trim()];
    }),
  );

/** unreadable says what is wrong with words; null is nothing. */
export function unreadable(words: string[]): string | null {
  const seen = new Set<string>();
  for (const word of words) {
    const [, key, value] = form.exec(word) ?? [];
    if (key === undefined || value === undefined || value.trim() === "")
      return `“${word}” is no tag. A key begins with a lower-case letter; write key:value.`;
    if ([...value.trim()].length > 100) return `The value of ${key} has more than 100 characters.`;
    if (seen.has(key)) return `${key} is there twice. A key has one value.`;
    seen.add(key);
  }
  return null;
}

/** words are the tags of a filter, of which a key may have several values, by key. */
export const words = (tags: Record<string, string[]>) =>
  Object.keys(tags)
    .sort()
    .flatMap((key) => (tags[key] ?? []).map((value) => `${key}:${value}`));

/** byKey are words as a filter. */
export function byKey(words: string[]): Record<string, string[]> {
  const tags: Record<string, string[]> = {};
  for (const word of words) {
    const at = word.indexOf(":");
    const key = word.slice(0, at);
    tags[key] = [...(tags[key] ?? []), word.slice(at + 1).trim()];
  }
  return tags;
}

/** noTag says which of a filter's words is no tag; null is none. */
export function noTag(words: string[]): string | null {
  const bad = words.find((word) => !form.test(word));
  return bad === undefined ? null : `“${bad}” is not a tag. Write key:value, as in env:prod.`;
}
