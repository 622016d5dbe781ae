import { Problem } from "../api/problem";
import { askAgainWhoIsSignedIn } from "../api/queries";

/**
 * entered asks who is signed in after the server opened a session. It throws a Problem where nobody is: the browser did
 * not keep the session. what is what was done, for its sentence: "The password is correct".
 */
export async function entered(what: string): Promise<void> {
  const session = await askAgainWhoIsSignedIn();
  if (session.authenticated) return;
  throw new Problem({
    code: "session_not_kept",
    detail: `${what}, but the browser did not keep the session. Allow cookies for this address. If it begins with http://, use https:// instead.`,
  });
}

/** longestReturn is what the server takes of an address to come back to, in characters. */
export const longestReturn = 2000;

/** startOf is where a sign-in with a provider begins, to come back to an address: whole, or its path where it is too long. */
export function startOf(startUrl: string, path: string, query: string): string {
  const here = path + query;
  return `${startUrl}?${new URLSearchParams({ returnTo: here.length <= longestReturn ? here : path })}`;
}
