import type { Instance } from "./standing";

/** Looked is when a server was last assessed, and when that last failed. */
type Looked = Pick<Instance, "lastAssessedAt" | "lastErrorAt">;

const isLater = (at: string | null, than: string | null) =>
  at !== null && (than === null || Date.parse(at) > Date.parse(than));

/**
 * endOf is how an assessment ended that was asked for; null: it has not. What was before it is the answer to the
 * request: the page's own may be older than an assessment that somebody else asked for.
 */
export function endOf(now: Looked, before: Looked): "assessed" | "failed" | null {
  if (isLater(now.lastAssessedAt, before.lastAssessedAt)) return "assessed";
  return isLater(now.lastErrorAt, before.lastErrorAt) ? "failed" : null;
}
