/** assessedSince says that a server's last assessment is a later one than another; null: there is none. */
export const assessedSince = (last: string | null, before: string | null) =>
  last !== null && (before === null || Date.parse(last) > Date.parse(before));
