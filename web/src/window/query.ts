import type { Window } from "./window";

/** windowQuery is the window and the filter as the three measured tiles ask for them, the same to the byte. */
export const windowQuery = ({
  window: { from, to, bucketSize },
  instanceIds,
}: {
  window: Window;
  instanceIds: string[] | undefined;
}) => ({
  from,
  to,
  bucketSize,
  ...(instanceIds && { instanceId: instanceIds }),
});
