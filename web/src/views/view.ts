// A view is an address of one of the pages, under a name.
import type { Schemas } from "../api/client";
import type { SignedIn } from "../api/session";
import { parseSearch, stringifySearch } from "../url/search";

export type View = Schemas["View"];

/** partsOf is the page that a view leads to, and its search. */
export function partsOf(query: string): { to: string; search: Record<string, string[]> } {
  const at = query.indexOf("?");
  return at < 0 ? { to: query, search: {} } : { to: query.slice(0, at), search: parseSearch(query.slice(at)) };
}

/** queryOf is a page as a view keeps it. */
export const queryOf = ({ pathname, search }: { pathname: string; search: object }) =>
  pathname + stringifySearch(search as Record<string, unknown>);

type Reader = Pick<SignedIn, "member" | "permissions">;

/** isOwn says that a view is the reader's own. */
export const isOwn = ({ author }: Pick<View, "author">, { member }: Pick<Reader, "member">) => author?.id === member.id;

/** mayChange says that the reader may rename and delete a view: their own, and as an administrator shared ones. */
export const mayChange = (view: Pick<View, "author">, reader: Reader) =>
  isOwn(view, reader) || reader.permissions.includes("admin");

/** suggested is a name for a view of a page: its title, and the tags that it is filtered by. */
export const suggested = (title: string, tags: readonly string[] = []) => [title, ...tags].join(" · ").slice(0, 100);
