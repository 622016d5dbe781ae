import { Grid, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api } from "../api/client";
import { serverNow } from "../api/clock";
import { inProgress, usePolling, whileMoving } from "../api/polling";
import { useSession } from "../api/session";
import { absoluteTime, bytes, count, duration, fromNow, plural } from "../ui/format";
import { NotThere } from "../ui/NotThere";
import { useNow } from "../ui/now";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { kindName } from "./kinds";
import { type Report, ReportStatus } from "./status";
import { useDownload } from "./statusDownload";
import { Facts } from "./statusFacts";
import { ReportFile, RequestAgain } from "./statusFile";
import { ReportFiles } from "./statusFiles";
import { Recipients } from "./statusRecipients";
import { TrailTimeline, trailKey } from "./trailTimeline";
import { HowToVerify } from "./verifyHow";

/** Milliseconds after Ready in which the mails, queued in the same transaction, are looked out for. */
const mailing = 60_000;

const moving = (report: Report) =>
  inProgress(report) ||
  (report.status === "Ready" &&
    serverNow().getTime() - Date.parse(report.finishedAt ?? report.createdAt) < mailing &&
    (report.recipients ?? []).some((r) => r.delivery === "pending"));

/** ReportPage is one report: its state and file, who receives it, what happened to it, and how to prove a PDF in hand. */
export function ReportPage() {
  const { reportId } = useParams({ from: "/reports/$reportId" });
  const report = api.useQuery(
    "get",
    "/api/v1/reports/{reportId}",
    { params: { path: { reportId } } },
    { ...usePolling<Report>((report) => moving(report) && whileMoving), staleTime: 0 },
  );
  if (report.data) return <Shown report={report.data} failed={report.error} onRetry={() => report.refetch()} />;
  if (report.isPending) {
    return (
      <>
        <PageTitle title="Report" />
        <Skeleton h={260} radius="md" />
      </>
    );
  }
  return (
    <>
      <PageTitle title="Report" />
      <NotThere
        what="report"
        error={report.error}
        onRetry={() => report.refetch()}
        all={{ to: "/reports/history", name: "the report history" }}
      >
        Your organization has no report {reportId}.
      </NotThere>
    </>
  );
}

function Shown({ report, failed, onRetry }: { report: Report; failed: unknown; onRetry: () => void }) {
  const queries = useQueryClient();
  const { can } = useSession();
  const download = useDownload(report);
  const readTrail = () => queries.invalidateQueries({ queryKey: trailKey(report.id) });
  const { shown } = download;
  const withTrail = {
    ...download,
    onClick: async (event: Parameters<typeof download.onClick>[0]) => {
      await download.onClick(event);
      // The browser does not tell when its download began, and with it that it was recorded.
      setTimeout(readTrail, 1_500);
    },
  };
  return (
    <>
      <PageTitle
        title={shown.scopeLabel}
        lead={`${kindName(shown.kind)} report`}
        actions={(shown.status === "Ready" || inProgress(shown)) && <RequestAgain report={shown} />}
      />
      {failed !== null && <ProblemNote error={failed} title="This page may be out of date" onRetry={onRetry} />}
      <Grid>
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack>
            <Section title="State">
              <Stack gap="md">
                <ReportStatus report={shown} />
                <ReportFile download={withTrail} />
                <ReportFacts report={shown} />
              </Stack>
            </Section>
            {(shown.downloadUrl || (shown.status === "Expired" && can("audit:read"))) && (
              <Section title="Files">
                <ReportFiles report={shown} onFetched={() => setTimeout(readTrail, 1_500)} />
              </Section>
            )}
            <Section title={`Recipients (${count(shown.recipientCount)})`}>
              <Recipients report={shown} />
            </Section>
            <Section title="How to verify">
              <HowToVerify report={shown} />
            </Section>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Section title="History">
            <TrailTimeline report={shown} />
          </Section>
        </Grid.Col>
      </Grid>
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Panel>
      <section aria-label={title}>
        <Title order={2} mb="sm">
          {title}
        </Title>
        {children}
      </section>
    </Panel>
  );
}

const utc = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
const inUTC = (at: string) => `${utc.format(new Date(at))} UTC`;

function ReportFacts({ report }: { report: Report }) {
  const now = useNow(60_000);
  const { scope, file, startedAt, finishedAt, expiresAt } = report;
  return (
    <Facts
      facts={[
        ["Requested by", report.requester.name],
        ["Requested", absoluteTime(report.createdAt)],
        [
          "Instances",
          scope.instanceIds.length === 0 ? "All active instances" : plural(scope.instanceIds.length, "instance"),
        ],
        ["Window", scope.from && scope.to ? `${inUTC(scope.from)} to ${inUTC(scope.to)}` : null],
        ["Build started", startedAt && absoluteTime(startedAt)],
        [
          report.status === "Failed" ? "Failed" : "Ready",
          finishedAt && `${absoluteTime(finishedAt)}${startedAt ? `, after ${spent(startedAt, finishedAt)}` : ""}`,
        ],
        [
          "File",
          !report.downloadUrl && file && `${file.name}, ${bytes(file.sizeBytes)}, ${plural(file.pages, "page")}`,
        ],
        [
          report.status === "Expired" ? "Expired" : "Expires",
          expiresAt && `${absoluteTime(expiresAt)} (${fromNow(expiresAt, now)})`,
        ],
        [
          "Id",
          <Text key="id" span size="xs" ff="monospace">
            {report.id}
          </Text>,
        ],
      ]}
    />
  );
}

function spent(from: string, to: string): string {
  const length = Date.parse(to) - Date.parse(from);
  return length < 1_000 ? "less than a second" : duration(length);
}
