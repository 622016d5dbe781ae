import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { Problem } from "./problem";
import { sessionQuery } from "./session";

/** Whoever was signed in is no longer: ask again who is, and the shell shows the sign-in in place of nothing lost. */
const noteEnd = (error: Error) => {
  if (error instanceof Problem && error.status === 401) sessionEnded.tell();
};

const listeners = new Set<() => void>();

/** sessionEnded tells that an answer was 401 while somebody was signed in; the shell then asks for the password. */
export const sessionEnded = {
  tell: () => {
    for (const listener of listeners) listener();
  },
  listen: (listener: () => void) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
};

/** A refusal is final; an unreachable or busy server is asked once more. */
const retry = (failures: number, error: Error) =>
  failures < 1 && error instanceof Problem && (error.status === 0 || error.status === 503);

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteEnd }),
  mutationCache: new MutationCache({ onError: noteEnd }),
  defaultOptions: {
    queries: { retry, refetchOnWindowFocus: false, staleTime: 30_000 },
    mutations: { retry: false },
  },
});

/** askAgainWhoIsSignedIn reads the session anew, as after a sign-in. */
export const askAgainWhoIsSignedIn = () => queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
