import { Skeleton, Stack, Table } from "@mantine/core";
import type { ReactNode } from "react";
import { Panel } from "../ui/Panel";

/** ListTable is a list of settings as a table that scrolls within itself; a heading in parentheses is for screen readers only, and scrolls with it. */
export function ListTable({
  label,
  columns,
  minWidth,
  busy = false,
  children,
}: {
  label: string;
  columns: string[];
  /** In pixels: narrower than that it scrolls. */
  minWidth: number;
  busy?: boolean;
  children: ReactNode;
}) {
  return (
    <Panel p={0}>
      {/* what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <Table.ScrollContainer minWidth={minWidth} type="native" tabIndex={0} role="region" aria-label={label}>
        <Table verticalSpacing="sm" aria-busy={busy} aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((name) => (
                <Table.Th key={name} scope="col">
                  {name.startsWith("(") ? <span className="visually-hidden">{name.slice(1, -1)}</span> : name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{children}</Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Panel>
  );
}

/** ListSkeleton holds the place of a list of so many rows until it is there. */
export function ListSkeleton({ rows }: { rows: number }) {
  return (
    <Panel aria-busy="true" aria-label="Loading">
      <Stack gap="md">
        {Array.from({ length: rows }, (_, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike and stay where they are
          <Skeleton key={row} height={28} />
        ))}
      </Stack>
    </Panel>
  );
}
