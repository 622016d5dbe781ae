import { Anchor, Skeleton, Stack, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { count } from "../ui/format";
import { useNarrow } from "../ui/narrow";
import { Time } from "../ui/Time";
import classes from "./history.module.css";
import { kindName } from "./kinds";
import { type Report, ReportStatus } from "./status";
import { useDownload } from "./statusDownload";
import { ReportFile } from "./statusFile";
import { TrayCard } from "./trayCard";

const columns = ["Scope", "Status", "File", "Requested", "Requested by", "Recipients"];

type Props = {
  /** undefined is not there yet. */
  reports: Report[] | undefined;
  busy: boolean;
  /** Each row says of which kind it is. */
  kinds: boolean;
};

/** HistoryTable is a page of the history: a table, or where there is no room for one, cards like those of the tray. */
export function HistoryTable({ reports, busy, kinds }: Props) {
  const narrow = useNarrow();
  if (narrow) return <Cards reports={reports} busy={busy} />;
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={980}
      tabIndex={0}
      role="region"
      aria-label="Reports"
      aria-busy={busy}
    >
      <Table verticalSpacing="sm" horizontalSpacing="md" layout="fixed" className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((name) => (
              <Table.Th key={name} scope="col" ta={name === "Recipients" ? "right" : undefined}>
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {reports
            ? reports.map((report) => <Row key={report.id} report={report} kinds={kinds} />)
            : [1, 2, 3, 4, 5].map((n) => <SkeletonRow key={n} />)}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Cards({ reports, busy }: Omit<Props, "kinds">) {
  return (
    <Stack gap="sm" p="xs" role="region" aria-label="Reports" aria-busy={busy}>
      {reports
        ? reports.map((report) => <TrayCard key={report.id} report={report} />)
        : [1, 2, 3].map((n) => <Skeleton key={n} h={104} radius="md" />)}
    </Stack>
  );
}

function Row({ report, kinds }: { report: Report; kinds: boolean }) {
  const download = useDownload(report);
  return (
    <Table.Tr data-report={report.id} data-status={download.shown.status}>
      <Table.Td>
        <Anchor
          renderRoot={(props) => <Link {...props} to="/reports/$reportId" params={{ reportId: report.id }} />}
          size="sm"
          fw={500}
        >
          {report.scopeLabel}
        </Anchor>
        {kinds && (
          <Text size="xs" c="dimmed">
            {kindName(report.kind)}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <ReportStatus report={download.shown} />
      </Table.Td>
      <Table.Td>
        <ReportFile download={download} />
      </Table.Td>
      <Table.Td>
        <Time at={report.createdAt} />
      </Table.Td>
      <Table.Td>{report.requester.name}</Table.Td>
      <Table.Td ta="right" className="numbers">
        {count(report.recipientCount)}
      </Table.Td>
    </Table.Tr>
  );
}

function SkeletonRow() {
  return (
    <Table.Tr>
      {columns.map((name) => (
        <Table.Td key={name}>
          <Skeleton h={44} my={1} />
        </Table.Td>
      ))}
    </Table.Tr>
  );
}
