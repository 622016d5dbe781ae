/**
 * assessedSince says that a server's last assessment is later than another; null: there is none. The other is the one in
 * the answer to the request: the page's own may be older than an assessment that somebody else asked for.
 */
export const assessedSince = (last: string | null, before: string | null) =>
  last !== null && (before === null || Date.parse(last) > Date.parse(before));
