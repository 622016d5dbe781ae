import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { plural } from "../ui/format";
import type { Kind } from "./kinds";

/** RequestReused says that the same report is being built already, and leads to it. */
export function RequestReused({
  requested,
  nameOf,
  onClose,
}: {
  /** null: nothing to say. */
  requested: Schemas["RequestedReport"] | null;
  nameOf: (memberId: string) => string;
  onClose: () => void;
}) {
  return (
    <Modal
      opened={requested !== null}
      onClose={onClose}
      title="Already being built"
      centered
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {requested && <Told requested={requested} nameOf={nameOf} />}
    </Modal>
  );
}

function Told({ requested, nameOf }: { requested: Schemas["RequestedReport"]; nameOf: (memberId: string) => string }) {
  const { report, recipientsNotAdded } = requested;
  const kind = report.kind as Kind;
  return (
    <Stack gap="sm">
      <Text size="sm">
        {report.requester.name} already requested the same report, and it is still being built:{" "}
        <b>{report.scopeLabel}</b>. No second build was started.
      </Text>
      <Text size="sm">The link goes to {plural(report.recipientCount, "person", "people")}.</Text>
      {recipientsNotAdded.length > 0 && (
        <Text size="sm">
          Not added, because a report can have at most 20 recipients: {recipientsNotAdded.map(nameOf).join(", ")}.
        </Text>
      )}
      <Group justify="flex-end" gap="xs">
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/reports/$reportId" params={{ reportId: report.id }} {...props} />}
        >
          Details
        </Button>
        <Button renderRoot={(props) => <Link to="/reports/history" search={{ kind }} hash={report.id} {...props} />}>
          Show in history
        </Button>
      </Group>
    </Stack>
  );
}
