import { Anchor, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconDownload, IconLock, IconRefresh } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { MouseEvent } from "react";
import { useSession } from "../api/session";
import { ago, bytes, fromNow, plural } from "../ui/format";
import { useNow } from "../ui/now";
import { requestAgainSearch } from "./requestAgain";
import type { Report } from "./status";
import { fileURL, type useDownload, useFile } from "./statusDownload";

/** RequestAgain leads to the request form, filled in as this report was; nothing for those who may not request. */
export function RequestAgain({ report }: { report: Report }) {
  const { can } = useSession();
  if (!can("reports:create")) return null;
  return (
    <Button
      renderRoot={(props) => <Link {...props} to="/reports/view" search={requestAgainSearch(report)} />}
      size="compact-sm"
      variant="default"
      leftSection={<IconRefresh size={14} aria-hidden />}
    >
      Request again
    </Button>
  );
}

/**
 * ReportFile is what a report's reader can have of it: the file, or why there is none and what to do. size names the
 * file's size and time where there is room for them.
 */
export function ReportFile({ download }: { download: ReturnType<typeof useDownload> }) {
  const report = download.shown;
  const refusal = download.refusal && (
    <Text size="xs" role="alert" data-refusal>
      {download.refusal}
    </Text>
  );
  switch (report.status) {
    case "Ready":
      return (
        <Stack gap={4} align="flex-start">
          <DownloadLink download={download} />
          {refusal}
        </Stack>
      );
    case "Failed":
      return (
        <Stack gap={6} align="flex-start">
          <Text size="sm">
            {report.error?.message ?? "The report could not be built."}{" "}
            {report.error && <Code fz="xs">{report.error.code}</Code>}
          </Text>
          <RequestAgain report={report} />
        </Stack>
      );
    case "Expired":
      return (
        <Stack gap={6} align="flex-start">
          {refusal || <Past at={report.expiresAt} />}
          <RequestAgain report={report} />
        </Stack>
      );
    default:
      return (
        <Text size="sm" c="dimmed">
          Not built yet
        </Text>
      );
  }
}

function Past({ at }: { at: string | null }) {
  const now = useNow(60_000);
  return (
    <Text size="sm" c="dimmed">
      No longer available{at && `, expired ${ago(at, now)}`}.
    </Text>
  );
}

/** DownloadLink is a ready report's file, with its name, size and time left; or why this reader does not get it. */
function DownloadLink({ download }: { download: ReturnType<typeof useDownload> }) {
  const { downloadUrl, file, expiresAt } = download.shown;
  const now = useNow(60_000);
  if (!downloadUrl) {
    return (
      <Group gap={6} wrap="nowrap" c="dimmed" align="flex-start">
        <IconLock size={16} aria-hidden style={{ flexShrink: 0, marginTop: 2 }} />
        <Text size="sm">Viewers can only download reports they receive.</Text>
      </Group>
    );
  }
  return (
    <>
      <Group gap="sm">
        <Button
          component="a"
          href={downloadUrl}
          download
          size="compact-sm"
          leftSection={<IconDownload size={14} aria-hidden />}
          aria-label={`Download ${file?.name ?? "the PDF"}`}
          loading={download.busy}
          onClick={download.onClick}
        >
          Download
        </Button>
        {file?.companions.map((name) => (
          <FileLink key={name} report={download.shown} name={name} />
        ))}
      </Group>
      <Text size="xs" c="dimmed" className="numbers">
        {[
          file?.name,
          file && bytes(file.sizeBytes),
          file && plural(file.pages, "page"),
          expiresAt && `expires ${fromNow(expiresAt, now)}`,
        ]
          .filter(Boolean)
          .join(" · ")}
      </Text>
    </>
  );
}

/** FileLink fetches a file that goes with a report's PDF. Afterwards is called when that may have been recorded. */
export function FileLink({ report, name, afterwards }: { report: Report; name: string; afterwards?: () => void }) {
  const url = fileURL(report, name);
  const file = useFile(url);
  const click = async (event: MouseEvent) => {
    await file.onClick(event);
    afterwards?.();
  };
  return (
    <Stack gap={2} align="flex-start">
      <Anchor
        href={url}
        download
        size="sm"
        aria-label={`Download ${name} of ${report.scopeLabel}`}
        aria-busy={file.busy}
        onClick={click}
      >
        {name}
      </Anchor>
      {file.refusal && (
        <Text size="xs" role="alert" data-refusal>
          {file.refusal}
        </Text>
      )}
    </Stack>
  );
}
