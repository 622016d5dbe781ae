import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { ProblemNote } from "./ProblemNote";

/**
 * TypedConfirm asks to type the name of what is about to change for good or for a while. The button stays off until it
 * is there, letter by letter.
 */
export function TypedConfirm({
  opened,
  onClose,
  onConfirm,
  title,
  name,
  verb,
  danger = false,
  busy,
  error,
  children,
}: {
  opened: boolean;
  onClose: () => void;
  onConfirm: () => void;
  title: string;
  name: string;
  verb: string;
  danger?: boolean;
  busy: boolean;
  error: unknown;
  children: ReactNode;
}) {
  const [typed, setTyped] = useState("");
  useEffect(() => {
    if (!opened) setTyped("");
  }, [opened]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed === name && !busy) onConfirm();
  };
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          <TextInput
            label={`Type ${name} to confirm`}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
          {error != null && <ProblemNote error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color={danger ? "red.9" : undefined} loading={busy} disabled={typed !== name}>
              {verb}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
