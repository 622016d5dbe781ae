import { Anchor, Button, Center, Skeleton, Stack, Text } from "@mantine/core";
import { IconInbox } from "@tabler/icons-react";
import { Link, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { api } from "../api/client";
import { inProgress, usePolling, whileMoving } from "../api/polling";
import { asProblem } from "../api/problem";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import type { Report } from "./status";
import { unseenOf, useFoldTray, useMarkSeen, useTray } from "./tray";
import { TrayCard } from "./trayCard";

/** ExportsPage is the tray: the reader's reports of all kinds that are being built or ready; e-mails lead here. */
export function ExportsPage() {
  const { reportId } = useSearch({ from: "/exports" });
  const tray = useTray();
  const fresh = useFresh(tray.data);
  const [gone, setGone] = useState<Report[]>([]);
  const fold = useFoldTray();
  useEffect(() => fold, [fold]);
  const items = tray.data && withGone(tray.data.items, gone);
  const elsewhere = reportId !== undefined && items !== undefined && !items.some((r) => r.id === reportId);
  return (
    <>
      <PageTitle
        title="Downloads"
        lead="Reports that you requested or receive: those being built, and those you can download."
        actions={
          <Anchor component={Link} to="/reports/history" size="sm">
            All reports
          </Anchor>
        }
      />
      <Stack gap="sm" aria-busy={tray.isFetching}>
        {tray.error && (
          <ProblemNote
            error={tray.error}
            title={items ? "The list may be out of date" : "Your downloads could not be loaded"}
            onRetry={() => tray.refetch()}
          />
        )}
        {elsewhere && <Elsewhere key={reportId} id={reportId} />}
        {tray.isPending && [1, 2, 3].map((n) => <Skeleton key={n} h={104} radius="md" />)}
        {items?.length === 0 && (
          <Panel>
            <EmptyState icon={<IconInbox size={32} aria-hidden />} title="No downloads">
              Reports that you request, or that others send you, appear here until they expire.
            </EmptyState>
          </Panel>
        )}
        {items?.map((report) => (
          <TrayCard
            key={report.id}
            report={report}
            fresh={fresh.has(report.id)}
            wanted={report.id === reportId}
            onGone={(r) => setGone((others) => [...others, r])}
          />
        ))}
        {tray.hasNextPage && (
          <Center>
            <Button variant="default" loading={tray.isFetchingNextPage} onClick={() => tray.fetchNextPage()}>
              Show more
            </Button>
          </Center>
        )}
      </Stack>
    </>
  );
}

/** withGone keeps in the list what expired under the reader's eyes; the next answer has it no more. */
function withGone(items: Report[], gone: Report[]): Report[] {
  const lost = gone.filter((r) => !items.some((i) => i.id === r.id));
  if (lost.length === 0) return items;
  return [...items, ...lost].sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
}

/** useFresh is which reports were unseen when the page showed them; that they are seen now is told to the server. */
function useFresh(tray: { items: Report[]; unseenCount: number } | undefined): Set<string> {
  const markSeen = useMarkSeen();
  const [fresh, setFresh] = useState(new Set<string>());
  const unseen = tray?.unseenCount ?? 0;
  const items = tray?.items;
  useEffect(() => {
    const newest = items?.[0];
    if (!newest || unseen === 0) return;
    setFresh((before) => new Set([...before, ...unseenOf(items, unseen)]));
    markSeen(newest.id);
  }, [items, unseen, markSeen]);
  return fresh;
}

/** Elsewhere is the report that the address names and that the tray does not show: expired, failed, or not the reader's. */
function Elsewhere({ id }: { id: string }) {
  const report = api.useQuery(
    "get",
    "/api/v1/reports/{reportId}",
    { params: { path: { reportId: id } } },
    { ...usePolling<Report>((report) => inProgress(report) && whileMoving), staleTime: 0 },
  );
  const { id: me } = useSession().member;
  if (report.isPending) return <Skeleton h={104} radius="md" />;
  if (!report.data) {
    if (asProblem(report.error).status !== 404) {
      return (
        <ProblemNote error={report.error} title="The report could not be loaded" onRetry={() => report.refetch()} />
      );
    }
    return (
      <Panel>
        <EmptyState title="This report does not exist">
          Your organization has no report {id}. The link may be incomplete, or belong to another organization.
        </EmptyState>
      </Panel>
    );
  }
  const mine = report.data.requester.id === me || report.data.recipients?.some((r) => r.id === me);
  return (
    <Stack gap={4}>
      <TrayCard report={report.data} wanted />
      {!mine && (
        <Text size="sm" c="dimmed">
          You did not request this report and are not a recipient, so it is not in your downloads.
        </Text>
      )}
    </Stack>
  );
}
