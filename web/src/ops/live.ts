/**
 * live is how the pages of operations look again: every so many milliseconds while somebody sees them, not at all in a
 * hidden tab, and at once on the way back.
 */
export const live = (every = 5_000) =>
  ({
    refetchInterval: every,
    refetchIntervalInBackground: false,
    refetchOnWindowFocus: "always",
    staleTime: 0,
  }) as const;
