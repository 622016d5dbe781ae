import { Anchor, Badge, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { Panel } from "../ui/Panel";
import { Time } from "../ui/Time";
import classes from "./history.module.css";
import { kindName } from "./kinds";
import { type Report, ReportStatus } from "./status";
import { useDownload } from "./statusDownload";
import { ReportFile } from "./statusFile";

type Props = {
  report: Report;
  /** Became Ready since the reader last looked. */
  fresh?: boolean;
  /** The one that the address names: it is scrolled to and focused, once. */
  wanted?: boolean;
  onGone?: (report: Report) => void;
};

/** TrayCard is a report in the tray: what it is, where it stands, its file. */
export function TrayCard({ report, fresh = false, wanted = false, onGone }: Props) {
  const download = useDownload(report, onGone);
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!wanted) return;
    card.current?.scrollIntoView({ block: "center" });
    card.current?.focus({ preventScroll: true });
  }, [wanted]);
  const { shown } = download;
  return (
    <Panel className={wanted ? classes.wanted : undefined}>
      <Group
        ref={card}
        tabIndex={wanted ? -1 : undefined}
        role="group"
        aria-label={`${kindName(shown.kind)}: ${shown.scopeLabel}`}
        data-report={shown.id}
        data-status={shown.status}
        data-wanted={wanted || undefined}
        data-fresh={fresh || undefined}
        justify="space-between"
        align="flex-start"
        gap="md"
        style={{ outline: "none" }}
      >
        <Stack gap={4} style={{ flex: "1 1 20rem", minWidth: 0 }}>
          <Group gap="xs">
            <Anchor
              renderRoot={(props) => <Link {...props} to="/reports/$reportId" params={{ reportId: shown.id }} />}
              fw={600}
            >
              {shown.scopeLabel}
            </Anchor>
            {fresh && (
              <Badge size="sm" radius="sm" variant="light">
                New
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed" component="div">
            {kindName(shown.kind)} · requested by {shown.requester.name}, <Time at={shown.createdAt} />
          </Text>
          <ReportStatus report={shown} />
        </Stack>
        <div style={{ flex: "0 1 24rem", minWidth: 0 }}>
          <ReportFile download={download} />
        </div>
      </Group>
    </Panel>
  );
}
