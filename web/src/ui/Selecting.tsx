import { Box, Button, Checkbox, Group, Paper, Text } from "@mantine/core";
import type { ReactNode, Ref } from "react";
import { count, plural } from "./format";
import type { Row, Selection } from "./useSelection";

/** SelectRow is the checkbox of a row or a card. */
export function SelectRow({ row, name, selection }: { row: Row; name: string; selection: Selection }) {
  return (
    <Checkbox
      aria-label={`Select ${name}`}
      checked={selection.selected.has(row.id)}
      disabled={!row.mayAct}
      onChange={(e) => selection.select([row.id], e.currentTarget.checked)}
      styles={{ body: { padding: 4, margin: -4 } }}
    />
  );
}

type All = { rows: readonly Row[]; what: string; selection: Selection; label?: string };

/** SelectAll is the checkbox of all rows of the page, which is neither where some of them are selected. */
export function SelectAll({ rows: all, what, selection, label }: All) {
  const rows = all.filter(({ mayAct }) => mayAct);
  const chosen = rows.filter(({ id }) => selection.selected.has(id)).length;
  return (
    <Checkbox
      aria-label={label ? undefined : `Select all ${what} on this page`}
      label={label}
      checked={chosen === rows.length && chosen > 0}
      disabled={rows.length === 0}
      indeterminate={chosen > 0 && chosen < rows.length}
      onChange={(e) =>
        selection.select(
          rows.map(({ id }) => id),
          e.currentTarget.checked,
        )
      }
    />
  );
}

type Bar = {
  /** Focus comes back here from a dialog, whose button may be gone with the selection. */
  ref: Ref<HTMLDivElement>;
  /** One of the selected things, "alert", and how many are selected. */
  thing: string;
  chosen: number;
  /** There are more than these on other pages: so many in all that match, all of which are selected or can be. */
  every?: { total: number; all: boolean; onAll: () => void };
  onClear: () => void;
  /** The buttons. */
  children: ReactNode;
};

/** SelectionBar is what can be done with the selected rows. It stays in sight while the list is scrolled. */
export function SelectionBar({ ref, thing, chosen, every, onClear, children }: Bar) {
  const said = every?.all
    ? `All ${count(every.total)} ${thing}s that match selected`
    : `${plural(chosen, thing)} selected`;
  return (
    <Box
      ref={ref}
      tabIndex={-1}
      role="group"
      aria-label={`Actions on the selected ${thing}s`}
      style={{ position: "sticky", bottom: 8, zIndex: 2, outlineOffset: 4 }}
    >
      <Text className="visually-hidden" role="status">
        {chosen > 0 && said}
      </Text>
      {chosen > 0 && (
        <Paper withBorder shadow="md" p="xs" mt="sm">
          <Group gap="xs" justify="space-between">
            <Group gap="xs">
              <Text size="sm" fw={600} className="numbers">
                {said}
              </Text>
              {every && !every.all && (
                <Button size="compact-sm" variant="subtle" onClick={every.onAll}>
                  Select all {count(every.total)} that match
                </Button>
              )}
            </Group>
            <Group gap="xs">
              {children}
              <Button size="xs" variant="subtle" onClick={onClear}>
                Clear selection
              </Button>
            </Group>
          </Group>
        </Paper>
      )}
    </Box>
  );
}
