import { queryClient } from "../api/queries";

/** schedulesChanged has every schedule and every list of them read anew. */
export const schedulesChanged = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] === "get" && String(queryKey[1]).startsWith("/api/v1/schedules"),
  });
