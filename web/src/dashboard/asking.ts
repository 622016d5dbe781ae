import type { Scope } from "../window/scope";

/** windowQuery is the window and the filter as the three measured tiles ask for them, the same to the byte. */
export const windowQuery = ({ window: { from, to, bucketSize }, instanceIds }: Scope) => ({
  from,
  to,
  bucketSize,
  ...(instanceIds && { instanceId: instanceIds }),
});
