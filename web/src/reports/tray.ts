// The tray: what the reader asked for or receives, being built or ready, over all kinds. One query for the header's
// menu, the page and the announcements, so that one poll serves all.
import {
  type InfiniteData,
  infiniteQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback } from "react";
import { client, type Schemas } from "../api/client";
import { inProgress, usePolling, whileMoving } from "../api/polling";
import type { Report } from "./status";

type TrayPages = InfiniteData<Schemas["ExportPage"], string | null>;

const key = ["get", "/api/v1/exports"] as const;

const trayQuery = infiniteQueryOptions({
  queryKey: key,
  queryFn: async ({ pageParam, signal }) => {
    const query = pageParam === null ? {} : { cursor: pageParam };
    return (await client.GET("/api/v1/exports", { params: { query }, signal })).data as Schemas["ExportPage"];
  },
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.nextCursor,
});

const shown = (data: TrayPages) => ({
  /** Newest first. */
  items: data.pages.flatMap((page) => page.items),
  unseenCount: data.pages[0]?.unseenCount ?? 0,
});

const moving = (data: TrayPages) => data.pages.some((page) => page.items.some(inProgress));

/** useTray is the tray as it was last read. */
export const useTray = () => useInfiniteQuery({ ...trayQuery, select: shown });

/**
 * usePolledTray is the tray, asked for again while something in it is moving, or missing there. For one place of a page,
 * the announcer: each that polled would ask for itself.
 */
export function usePolledTray(missing: () => boolean) {
  const polling = usePolling<TrayPages>((data) => (moving(data) || missing()) && whileMoving);
  return useInfiniteQuery({ ...trayQuery, ...polling, select: shown });
}

/** useFoldTray gives back the pages beyond the first: a poll reads as many as are there. */
export function useFoldTray() {
  const queries = useQueryClient();
  return useCallback(() => {
    queries.setQueryData<TrayPages>(
      key,
      (data) => data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
    );
  }, [queries]);
}

/** useMarkSeen tells the server that everything in the tray was seen; the count in the header goes at once. */
export function useMarkSeen() {
  const queries = useQueryClient();
  const { mutate } = useMutation({
    mutationFn: (upTo: string) => client.POST("/api/v1/exports/seen", { body: { upTo } }),
    onSuccess: () =>
      queries.setQueryData<TrayPages>(
        key,
        (data) => data && { ...data, pages: data.pages.map((page) => ({ ...page, unseenCount: 0 })) },
      ),
  });
  return mutate;
}

/**
 * unseenOf is which of the tray's reports are new to its reader. The API counts them; they are those that became Ready
 * last, for a mark covers all that was Ready when it was set.
 */
export function unseenOf(items: Report[], unseenCount: number): Set<string> {
  const ready = items.filter((r) => r.status === "Ready");
  const at = (report: Report) => Date.parse(report.finishedAt ?? report.createdAt);
  ready.sort((a, b) => at(b) - at(a));
  return new Set(ready.slice(0, unseenCount).map((r) => r.id));
}
