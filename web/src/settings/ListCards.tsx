import { Group, Paper, SimpleGrid, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** ListCards is a list where there is no room for a table. */
export const ListCards = ({
  label,
  busy = false,
  children,
}: {
  label: string;
  busy?: boolean;
  children: ReactNode;
}) => (
  <Stack gap="sm" role="region" aria-label={label} aria-busy={busy}>
    {children}
  </Stack>
);

/** ListCard is one thing of such a list: what it is and how it stands, then more of it, its facts two in a row, and what can be done. */
export function ListCard({
  label,
  title,
  mark,
  facts = [],
  actions,
  children,
}: {
  label: string;
  title: ReactNode;
  mark?: ReactNode;
  facts?: [name: string, value: ReactNode][];
  actions?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Paper withBorder p="sm" component="article" aria-label={label}>
      <Group justify="space-between" gap="xs" align="flex-start">
        <div style={{ flex: "1 1 120px", minWidth: 0, overflowWrap: "anywhere" }}>{title}</div>
        {mark && (
          <Text size="sm" component="div" style={{ flexShrink: 0 }}>
            {mark}
          </Text>
        )}
      </Group>
      {children && (
        <Text size="sm" component="div" mt="xs">
          {children}
        </Text>
      )}
      {facts.length > 0 && (
        <SimpleGrid cols={2} spacing="sm" mt="xs">
          {facts.map(([name, value]) => (
            <div key={name} style={{ minWidth: 0, overflowWrap: "anywhere" }}>
              <Text size="xs" c="dimmed">
                {name}
              </Text>
              <Text size="sm" component="div">
                {value}
              </Text>
            </div>
          ))}
        </SimpleGrid>
      )}
      {actions && (
        <Group gap="xs" mt="sm" align="flex-start">
          {actions}
        </Group>
      )}
    </Paper>
  );
}
