import { Kbd, Modal, Switch, Table } from "@mantine/core";
import { shortcuts } from "./shortcuts";
import { useSingleKeys } from "./useShortcuts";

/** ShortcutsModal lists the shortcuts, and turns them off for those whom single keys hinder. */
export default function ShortcutsModal({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [on, turn] = useSingleKeys();
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size="sm">
      <Table verticalSpacing={6} withRowBorders={false} aria-label="Keyboard shortcuts">
        <Table.Tbody>
          {shortcuts.map(({ keys, does }) => (
            <Table.Tr key={does}>
              <Table.Td>{does}</Table.Td>
              <Table.Td ta="end" style={{ whiteSpace: "nowrap" }}>
                {keys.map((key, at) => (
                  <span key={key}>
                    {at > 0 && " then "}
                    <Kbd>{key}</Kbd>
                  </span>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Switch
        mt="md"
        label="Single-key shortcuts"
        description="They do not apply while you type. This choice is saved in this browser."
        checked={on}
        onChange={(event) => turn(event.currentTarget.checked)}
      />
    </Modal>
  );
}
