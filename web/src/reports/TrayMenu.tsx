import { ActionIcon, Anchor, Divider, Group, Indicator, Popover, Stack, Text, Tooltip } from "@mantine/core";
import { IconDownload, IconInbox } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { plural } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { kindName } from "./kinds";
import { type Report, ReportStatus } from "./status";
import { useDownload } from "./statusDownload";
import { unseenOf, useMarkSeen, useTray } from "./tray";

const latest = 5;

/** TrayMenu is the header's way to the reader's reports: how many are new, and the latest of them. */
export function TrayMenu() {
  const tray = useTray();
  const markSeen = useMarkSeen();
  const [opened, setOpened] = useState(false);
  const [fresh, setFresh] = useState(new Set<string>());
  const items = tray.data?.items ?? [];
  const unseen = tray.data?.unseenCount ?? 0;
  const change = (open: boolean) => {
    setOpened(open);
    if (!open) return;
    setFresh(unseenOf(items, unseen));
    const newest = items[0];
    if (unseen > 0 && newest) markSeen(newest.id);
  };
  const name = unseen > 0 ? `Downloads, ${unseen} new` : "Downloads";
  return (
    <Popover opened={opened} onChange={change} position="bottom-end" width={360} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Tooltip label={name} disabled={opened}>
          <Indicator
            label={unseen > 99 ? "99+" : unseen}
            disabled={unseen === 0}
            size={16}
            color="muster"
            offset={4}
            data-unseen={unseen}
            styles={{ indicator: { pointerEvents: "none" } }}
          >
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={name}
              aria-haspopup="dialog"
              aria-expanded={opened}
              onClick={() => change(!opened)}
            >
              <IconDownload size={20} aria-hidden />
            </ActionIcon>
          </Indicator>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown maw="calc(100vw - 40px)" aria-label="Downloads">
        <Text fw={600} size="sm" mb="xs">
          Downloads
        </Text>
        {tray.isError && !tray.data && <ProblemNote error={tray.error} onRetry={() => tray.refetch()} />}
        {tray.data && items.length === 0 && (
          <Group gap="xs" c="dimmed" py="xs" wrap="nowrap">
            <IconInbox size={20} aria-hidden />
            <Text size="sm">You have no reports in progress or ready.</Text>
          </Group>
        )}
        <Stack gap="sm">
          {items.slice(0, latest).map((report) => (
            <Entry key={report.id} report={report} fresh={fresh.has(report.id)} onLeave={() => change(false)} />
          ))}
        </Stack>
        <Divider my="sm" />
        <Anchor component={Link} to="/exports" size="sm" onClick={() => change(false)}>
          {items.length > latest ? `All ${plural(items.length, "download")}` : "All downloads"}
        </Anchor>
      </Popover.Dropdown>
    </Popover>
  );
}

function Entry({ report, fresh, onLeave }: { report: Report; fresh: boolean; onLeave: () => void }) {
  const download = useDownload(report);
  const { shown } = download;
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" justify="space-between">
      <Stack gap={2} miw={0}>
        <Anchor
          renderRoot={(props) => <Link {...props} to="/exports" search={{ reportId: report.id }} />}
          size="sm"
          fw={fresh ? 650 : 500}
          onClick={onLeave}
        >
          {shown.scopeLabel}
        </Anchor>
        <Group gap={6}>
          <Text size="xs" c="dimmed">
            {fresh && "New · "}
            {kindName(shown.kind)} · <Time at={shown.finishedAt ?? shown.createdAt} relative />
          </Text>
        </Group>
        {shown.status !== "Ready" && <ReportStatus report={shown} />}
        {download.refusal && (
          <Text size="xs" role="alert">
            {download.refusal}
          </Text>
        )}
      </Stack>
      {shown.downloadUrl && (
        <ActionIcon
          component="a"
          href={shown.downloadUrl}
          download
          variant="default"
          aria-label={`Download ${shown.file?.name ?? shown.scopeLabel}`}
          loading={download.busy}
          onClick={download.onClick}
        >
          <IconDownload size={16} aria-hidden />
        </ActionIcon>
      )}
    </Group>
  );
}
