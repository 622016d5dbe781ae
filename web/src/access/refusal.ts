/** Why the identity provider could not sign somebody in: the reasons of `?signIn=failed`. */
const refusals: Record<string, string> = {
  no_account:
    "You are signed in there, but no account here is open to you. Ask an administrator of your organization for one, or to look in the audit list why yours does not open.",
  email_not_verified:
    "The identity provider does not say that your e-mail address is verified, so no account here can be found by it. Ask whoever runs the provider.",
  provider_unavailable:
    "The identity provider does not answer as it should. Try again in a moment; where it stays like this, tell an administrator.",
  provider_error: "The identity provider refuses to sign you in here. Tell an administrator: the log has its reason.",
  denied: "The sign-in was cancelled at the identity provider.",
  flow_expired: "That sign-in had ended, or was begun in another browser. Start again.",
  flow_mismatch: "That was the end of another sign-in than the one that you began here. Start again.",
  code_refused: "That sign-in was used already. Start again.",
  token_refused: "The identity provider's answer could not be trusted. Tell an administrator: the log has the reason.",
  throttled: "Too many sign-ins from your network came to nothing. Try again in a few minutes.",
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
