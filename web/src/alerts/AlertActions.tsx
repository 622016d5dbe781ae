import { Button, Group, Modal, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBell, IconBellOff, IconCircleCheck, IconEye, IconNotes } from "@tabler/icons-react";
import { lazy, Suspense, useRef } from "react";
import type { Schemas } from "../api/client";
import { part } from "../ui/part";
import { choicesOf } from "./actions";
import { type Action, useAlertAction } from "./useAlertAction";

const ActDialog = lazy(() => part(() => import("./ActDialog")).then((m) => ({ default: m.ActDialog })));

/** AlertActions is what can be done to an alert in the state it is in: closed ones can only be muted. */
export function AlertActions({ alert }: { alert: Schemas["AlertDetail"] }) {
  const group = useRef<HTMLDivElement>(null);
  const [asking, { open: ask, close }] = useDisclosure(false);
  const [writing, { open: write, close: written }] = useDisclosure(false);
  // The button that was pressed is gone after that: focus stays with the others.
  const action = useAlertAction(alert.id, () => {
    close();
    written();
    group.current?.focus();
  });
  const props = (name: Action) => ({
    size: "sm",
    variant: "default",
    loading: action.isPending && !writing && action.variables.action === name,
    disabled: action.isPending && action.variables.action !== name,
    onClick: () => action.mutate({ action: name }),
  });
  return (
    <Group
      id="acknowledge"
      gap="xs"
      ref={group}
      tabIndex={-1}
      role="group"
      aria-label="Actions"
      style={{ outlineOffset: 4 }}
    >
      {alert.open && alert.state !== "Acknowledged" && (
        <Button {...props("acknowledge")} variant="filled" leftSection={<IconEye size={16} aria-hidden />}>
          Acknowledge
        </Button>
      )}
      {alert.isMuted ? (
        <Button {...props("unmute")} leftSection={<IconBell size={16} aria-hidden />}>
          Unmute
        </Button>
      ) : (
        <Button {...props("mute")} leftSection={<IconBellOff size={16} aria-hidden />}>
          Mute
        </Button>
      )}
      {alert.open && (
        <Button {...props("resolve")} onClick={ask} leftSection={<IconCircleCheck size={16} aria-hidden />}>
          Resolve
        </Button>
      )}
      <Button size="sm" variant="default" onClick={write} leftSection={<IconNotes size={16} aria-hidden />}>
        More…
      </Button>
      {writing && (
        <Suspense>
          <ActDialog
            choices={choicesOf(alert)}
            alerts={1}
            onClose={() => {
              written();
              requestAnimationFrame(() => group.current?.focus());
            }}
            onAct={async (act) => {
              await action.mutateAsync(act);
            }}
          />
        </Suspense>
      )}
      <Modal
        opened={asking}
        onClose={close}
        title="Resolve this alert?"
        closeButtonProps={{ "aria-label": "Close" }}
        returnFocus
      >
        <Text size="sm">
          This closes the alert even if its source still reports it, and it cannot be reopened. If it fires again,
          Muster opens a new alert.
        </Text>
        <Group justify="flex-end" gap="xs" mt="lg">
          <Button variant="default" onClick={close}>
            Keep it open
          </Button>
          <Button data-autofocus loading={action.isPending} onClick={() => action.mutate({ action: "resolve" })}>
            Resolve
          </Button>
        </Group>
      </Modal>
    </Group>
  );
}
