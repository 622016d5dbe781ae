import { Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Panel } from "../ui/Panel";

/** Column is a column's heading; numbers are aligned at their end. */
type Column = string | { label: string; numbers: true };

/** ListPanel is a panel with a table, which scrolls where it is wider than the page. label names the table. */
export function ListPanel(props: {
  title: string;
  about: string;
  label: string;
  columns: Column[];
  children: ReactNode; // the rows
}) {
  return (
    <Panel p={0}>
      <Title order={2} px="md" pt="md">
        {props.title}
      </Title>
      <Text size="sm" c="dimmed" px="md" mt={4} mb="xs" maw="75ch">
        {props.about}
      </Text>
      <Table.ScrollContainer type="native" minWidth={640} tabIndex={0} role="region" aria-label={props.label}>
        <Table verticalSpacing="sm" horizontalSpacing="md">
          <Table.Thead>
            <Table.Tr>
              {props.columns.map((column) =>
                typeof column === "string" ? (
                  <Table.Th scope="col" key={column}>
                    {column}
                  </Table.Th>
                ) : (
                  <Table.Th scope="col" ta="right" key={column.label}>
                    {column.label}
                  </Table.Th>
                ),
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{props.children}</Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Panel>
  );
}
