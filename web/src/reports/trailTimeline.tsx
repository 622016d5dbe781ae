import { Button, Skeleton, Stack, Text, Timeline } from "@mantine/core";
import {
  IconCircleCheck,
  IconCircleX,
  IconDownload,
  IconFileText,
  IconHourglass,
  IconMail,
  IconMailX,
  IconPlayerPlay,
  IconPoint,
  IconUserPlus,
} from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { client, type Schemas } from "../api/client";
import { absoluteTime } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import type { Report } from "./status";
import { words } from "./trailWords";

const icons: Record<string, ReactNode> = {
  queued: <IconFileText size={14} aria-hidden />,
  reused: <IconUserPlus size={14} aria-hidden />,
  buildStarted: <IconPlayerPlay size={14} aria-hidden />,
  buildResumed: <IconPlayerPlay size={14} aria-hidden />,
  ready: <IconCircleCheck size={14} aria-hidden />,
  failed: <IconCircleX size={14} aria-hidden />,
  emailSent: <IconMail size={14} aria-hidden />,
  emailFailed: <IconMailX size={14} aria-hidden />,
  downloaded: <IconDownload size={14} aria-hidden />,
  expired: <IconHourglass size={14} aria-hidden />,
};

/** trailKey is the key of a report's trail among the queries. */
export const trailKey = (id: string) => ["get", "/api/v1/reports/{reportId}/events", id] as const;

/** TrailTimeline is what happened to a report, oldest first: the log's own words, said for people. */
export function TrailTimeline({ report }: { report: Report }) {
  const trail = useInfiniteQuery({
    queryKey: trailKey(report.id),
    queryFn: async ({ pageParam, signal }) => {
      const params = { path: { reportId: report.id }, query: pageParam === null ? {} : { cursor: pageParam } };
      return (await client.GET("/api/v1/reports/{reportId}/events", { params, signal })).data as Schemas["TrailPage"];
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    staleTime: 0,
  });
  useReadWithReport(report, trail.refetch);
  if (trail.isPending) return <Skeleton h={220} radius="md" />;
  if (!trail.data)
    return (
      <ProblemNote
        error={trail.error}
        title="The history of this report could not be loaded"
        onRetry={() => trail.refetch()}
      />
    );
  const entries = trail.data.pages.flatMap((page) => page.items);
  const names = new Map((report.recipients ?? []).map((r) => [r.id, r.name]));
  const nameOf = (id: string) => names.get(id) ?? "a former recipient";
  return (
    <Stack gap="md">
      <Timeline
        active={entries.length - 1}
        bulletSize={26}
        lineWidth={2}
        role="list"
        aria-label="History of the report"
      >
        {entries.map((entry, n) => {
          const { title, detail } = words(entry, nameOf);
          return (
            <Timeline.Item
              // biome-ignore lint/suspicious/noArrayIndexKey: a trail only grows at its end, and two entries may be alike
              key={n}
              role="listitem"
              data-event={entry.type}
              title={title}
              bullet={icons[entry.type] ?? <IconPoint size={14} aria-hidden />}
              color={entry.type === "failed" || entry.type === "emailFailed" ? "red" : undefined}
            >
              {detail && <Text size="sm">{detail}</Text>}
              <Text size="xs" c="dimmed" className="numbers">
                <time dateTime={entry.at}>{absoluteTime(entry.at)}</time> · {entry.actor?.name ?? "Muster"}
              </Text>
            </Timeline.Item>
          );
        })}
      </Timeline>
      {trail.hasNextPage && (
        <Button variant="default" size="xs" loading={trail.isFetchingNextPage} onClick={() => trail.fetchNextPage()}>
          Show what came later
        </Button>
      )}
    </Stack>
  );
}

/** useReadWithReport reads the trail anew whenever the report has moved: the report's own poll is the only one. */
function useReadWithReport(report: Report, read: () => void) {
  const stage = JSON.stringify([report.status, report.progress, report.recipients]);
  const last = useRef(stage);
  useEffect(() => {
    if (last.current === stage) return;
    last.current = stage;
    read();
  }, [stage, read]);
}
