import { Anchor, Group, Text } from "@mantine/core";
import { IconAlertTriangle, IconCheck } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type MouseEvent, useEffect, useState } from "react";
import { client, type Schemas } from "../api/client";
import { inProgress } from "../api/polling";
import { asProblem } from "../api/problem";
import { useSession } from "../api/session";
import { dismiss, toast } from "../ui/toast";
// Here before it is needed: that something failed has to be told also while the server is away.
import "../ui/Toasts";
import { kindName } from "./kinds";
import type { Report } from "./status";
import { askFor, fetchFile, reportsChanged } from "./statusDownload";
import { usePolledTray } from "./tray";
import { noteTray, watch, watching } from "./trayNews";

/**
 * ReportAnnouncer polls the tray on every page and tells, once, when a report of the reader became Ready or Failed: in a
 * toast, and in a text that a screen reader speaks.
 */
export default function ReportAnnouncer() {
  const { id: me } = useSession().member;
  const queries = useQueryClient();
  const router = useRouter();
  const tray = usePolledTray(() => watching(me));
  const [said, setSaid] = useState("");
  useWatchedRequests(me);
  // Not when the data changes but when it was read: an answer like the last may be one in which something is missing.
  const readAt = tray.dataUpdatedAt;
  const items = tray.data?.items;
  // biome-ignore lint/correctness/useExhaustiveDependencies: readAt is the occasion, items what is then there
  useEffect(() => {
    if (!items) return;
    const tell = (report: Report) => {
      setSaid(`${sentence(report)}.`);
      show(report, () => router.navigate({ to: "/reports/$reportId", params: { reportId: report.id } }));
    };
    const news = noteTray(me, items);
    for (const report of news.done) tell(report);
    for (const id of news.missing) void outcome(me, id).then((report) => report && tell(report));
    if (news.done.length + news.missing.length > 0) void reportsChanged(queries, { tray: false });
  }, [readAt, items, me, queries, router]);
  return (
    <div className="visually-hidden" aria-live="polite" data-announcer>
      {said}
    </div>
  );
}

/** outcome is what became of a report that left the tray; null where that is not known, or nothing yet. */
async function outcome(me: string, id: string): Promise<Report | null> {
  try {
    const { data } = await client.GET("/api/v1/reports/{reportId}", { params: { path: { reportId: id } } });
    if (!data) return null;
    if (inProgress(data)) watch(me, id);
    return data.status === "Failed" || data.status === "Ready" ? data : null;
  } catch (error) {
    if (asProblem(error).status !== 404) watch(me, id);
    return null;
  }
}

/** useWatchedRequests watches what is requested on this page: some reports fail before the tray is read again. */
function useWatchedRequests(me: string) {
  const queries = useQueryClient();
  useEffect(
    () =>
      queries.getMutationCache().subscribe(({ type, mutation }) => {
        if (type !== "updated" || mutation?.state.status !== "success") return;
        const [method, path] = mutation.options.mutationKey ?? [];
        if (method !== "post" || path !== "/api/v1/reports") return;
        const answer = mutation.state.data as Schemas["RequestedReport"];
        watch(me, answer.report.id);
        void queries.invalidateQueries({ queryKey: ["get", "/api/v1/exports"] });
      }),
    [queries, me],
  );
}

const sentence = (report: Report) =>
  `${kindName(report.kind)} report, ${report.scopeLabel}: ${report.status === "Ready" ? "ready to download" : "failed"}`;

function show(report: Report, view: () => void) {
  const ready = report.status === "Ready";
  void toast({
    id: `report-${report.id}`,
    // The announcer's own text is what a screen reader speaks; an alert would say it twice, and interrupt.
    role: "group",
    "aria-label": sentence(report),
    title: `${kindName(report.kind)} report ${ready ? "ready" : "failed"}`,
    color: ready ? "muster" : "red",
    icon: ready ? <IconCheck size={18} aria-hidden /> : <IconAlertTriangle size={18} aria-hidden />,
    autoClose: 20_000,
    closeButtonProps: { "aria-label": "Dismiss" },
    message: <ToastBody report={report} view={view} />,
  });
}

/** ToastBody stands outside the router, where the toasts are: its links navigate by hand. */
function ToastBody({ report, view }: { report: Report; view: () => void }) {
  const [refusal, setRefusal] = useState<string | null>(null);
  const url = report.downloadUrl;
  const close = () => dismiss(`report-${report.id}`);
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    view();
    close();
  };
  const download = async (event: MouseEvent) => {
    event.preventDefault();
    if (!url) return;
    const refused = await askFor(url);
    setRefusal(refused?.message ?? null);
    if (refused) return;
    fetchFile(url);
    close();
  };
  return (
    <>
      <Text size="sm" component="div">
        {report.scopeLabel}
      </Text>
      {(report.error || refusal) && (
        <Text size="sm" component="div">
          {refusal ?? report.error?.message}
        </Text>
      )}
      <Group gap="md" mt={4}>
        {url && (
          <Anchor href={url} download size="sm" fw={600} onClick={download}>
            Download
          </Anchor>
        )}
        <Anchor href={`/reports/${report.id}`} size="sm" onClick={open}>
          View
        </Anchor>
      </Group>
    </>
  );
}
