import { Alert, Button, Group, Modal, Stack } from "@mantine/core";
import { IconEyeOff } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Snippet } from "../ui/Snippet";

/** TokenMade shows a new token, once, and how it is used. */
export function TokenMade({
  name,
  token,
  example,
  onClose,
  children,
}: {
  name: string;
  token: string;
  /** A command that shows that it works. */
  example: string;
  onClose: () => void;
  children?: ReactNode;
}) {
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      closeOnClickOutside={false}
      title={`Token ${name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        <Alert color="yellow" role="note" icon={<IconEyeOff aria-hidden />} title="This is shown only once">
          Copy it to where it is needed now. Muster keeps only its digest. If you lose the token, create another.
        </Alert>
        <Snippet label="Token" text={token} wrapped />
        <Snippet label="Try it" text={example} wrapped />
        {children}
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
