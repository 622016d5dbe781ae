/** Why the identity provider could not sign somebody in: the reasons of `?signIn=failed`. */
const refusals: Record<string, string> = {
  no_account:
    "You signed in at the identity provider, but have no active account in Muster. Ask an administrator of your organization to create one, or to check the audit list for the reason.",
  email_not_verified:
    "The identity provider has not verified your e-mail address, so Muster cannot match it to an account. Ask the person who runs the provider.",
  provider_unavailable:
    "The identity provider is not responding correctly. Try again in a moment. If the problem persists, tell an administrator.",
  provider_error:
    "The identity provider refused to sign you in to Muster. Tell an administrator: the reason is in the log.",
  denied: "The sign-in was cancelled at the identity provider.",
  flow_expired: "That sign-in expired, or was started in another browser. Start again.",
  flow_mismatch: "That response belongs to a different sign-in than the one you started here. Start again.",
  code_refused: "That sign-in was already used. Start again.",
  token_refused:
    "The identity provider's response could not be verified. Tell an administrator: the reason is in the log.",
  throttled: "Too many sign-ins from your network failed. Try again in a few minutes.",
};

/** refusalIn is why a sign-in came to nothing, in words; null where an address's query tells of none. */
export function refusalIn(query: URLSearchParams): string | null {
  if (query.get("signIn") !== "failed") return null;
  const reason = query.get("reason") ?? "";
  return Object.hasOwn(refusals, reason) ? (refusals[reason] ?? null) : "The sign-in failed. Start again.";
}

/** withoutRefusal is an address's query, with its question mark, without what tells of a failed sign-in. */
export function withoutRefusal(query: URLSearchParams): string {
  const rest = new URLSearchParams(query);
  rest.delete("signIn");
  rest.delete("reason");
  return rest.size > 0 ? `?${rest}` : "";
}

/**
 * refused is why the sign-in that led to this load of the page came to nothing; null where none did. It is taken out of
 * the address when this file is loaded, which is before the router reads it: so a reload does not tell it again, no page
 * calls it an unknown parameter, and whoever is signed in all the same is not bothered with it.
 */
export const refused: string | null = (() => {
  const query = new URLSearchParams(location.search);
  const why = refusalIn(query);
  if (why !== null) {
    history.replaceState(history.state, "", `${location.pathname}${withoutRefusal(query)}${location.hash}`);
  }
  return why;
})();
