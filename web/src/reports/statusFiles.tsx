import { Skeleton, Table, Text } from "@mantine/core";
import { api } from "../api/client";
import { bytes } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import type { Report } from "./status";
import { FileLink } from "./statusFile";

/** What each file of a report is for. */
const uses: Record<string, string> = {
  "report.pdf": "The report as it was built, without its signature",
  "findings.csv": "A row per finding, for spreadsheets",
  "cves.csv": "A row per CVE and server, for spreadsheets",
  "accounts.csv": "A row per privileged account, for spreadsheets",
  "inventory.csv": "A row per sensitive column, for spreadsheets",
  "alerts.csv": "A row per alert, for spreadsheets",
  "digest.json": "The words and the figures of the digest",
  "sla.csv": "A row per server, for spreadsheets",
  "inputs.json": "All that the report was made from",
  "proof.json": "The proof, for a check without Muster",
};

/** ReportFiles lists what a report's reader can fetch, each with its digest. */
export function ReportFiles({ report, onFetched }: { report: Report; onFetched: () => void }) {
  const files = api.useQuery("get", "/api/v1/reports/{reportId}/files", {
    params: { path: { reportId: report.id } },
  });
  if (files.isPending) return <Skeleton h={96} radius="sm" />;
  if (files.error) {
    return <ProblemNote error={files.error} title="The files could not be listed" onRetry={() => files.refetch()} />;
  }
  if (files.data.items.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No file of this report is kept any more.
      </Text>
    );
  }
  return (
    <Table.ScrollContainer type="native" minWidth={480} tabIndex={0} role="region" aria-label="Files and their digests">
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">File</Table.Th>
            <Table.Th scope="col" ta="right">
              Size
            </Table.Th>
            <Table.Th scope="col">SHA-256</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {files.data.items.map((file) => (
            <Table.Tr key={file.name} data-file={file.name}>
              <Table.Td>
                <FileLink report={report} name={file.name} afterwards={onFetched} />
                <Text size="xs" c="dimmed">
                  {uses[file.name]}
                </Text>
              </Table.Td>
              <Table.Td ta="right" className="numbers" style={{ whiteSpace: "nowrap" }}>
                {bytes(file.sizeBytes)}
              </Table.Td>
              <Table.Td>
                <Text size="xs" ff="monospace" style={{ wordBreak: "break-all" }}>
                  {file.sha256}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
