import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ProblemNote } from "../ui/ProblemNote";

/** Confirm asks once more before something is done, and says there what comes of it, or why it could not be done. */
export function Confirm({
  title,
  verb,
  danger = false,
  busy,
  error,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  verb: string;
  danger?: boolean;
  busy: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {error != null && <ProblemNote error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color={danger ? "red.9" : undefined} loading={busy} onClick={onConfirm} data-autofocus>
            {verb}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
