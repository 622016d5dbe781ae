import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { sessionEnded } from "./ended";
import { failedLikeAway, Problem } from "./problem";
import { sessionQuery } from "./session";

/** Whoever was signed in is no longer: ask again who is, and the shell shows the sign-in in place of nothing lost. */
const noteEnd = (error: Error) => {
  if (error instanceof Problem && error.status === 401) void sessionEnded.tell();
};

/**
 * A refusal is final; what was busy is asked once more. While the server is away a query waits between two tries, and
 * goes on when it is back.
 */
const retry = (failures: number, error: Error) =>
  error instanceof Problem && (error.away || (failures < 1 && failedLikeAway(error)));

/** What failed for another reason is asked again, too, when the server is back. */
const refetchOnReconnect = (query: { state: { status: string } }) => query.state.status === "error" && "always";

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteEnd }),
  mutationCache: new MutationCache({ onError: noteEnd }),
  defaultOptions: {
    queries: { retry, refetchOnWindowFocus: false, refetchOnReconnect, staleTime: 30_000 },
    // Whoever does something is told at once that it did not work.
    mutations: { retry: false, networkMode: "always" },
  },
});

/** askAgainWhoIsSignedIn reads the session anew, as after a sign-in. */
export const askAgainWhoIsSignedIn = () => queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
