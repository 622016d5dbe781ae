import { Badge, Group, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

/** PageTitle is a page's heading, with what it says of itself, what can be done there, and the title of the browser's tab. */
export function PageTitle({
  title,
  beta = false,
  beside,
  lead,
  actions,
}: {
  title: string;
  beta?: boolean;
  /** Marks of what has the title. */
  beside?: ReactNode;
  lead?: ReactNode;
  actions?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Muster`;
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="lg" gap="sm">
      <div style={{ minWidth: 0, flex: "1 1 20rem" }}>
        <Group gap="xs">
          <Title order={1}>{title}</Title>
          {beta && (
            <Badge variant="light" size="sm" radius="sm">
              Beta
            </Badge>
          )}
          {beside}
        </Group>
        {lead && (
          <Text c="dimmed" size="sm" mt={4} maw="70ch">
            {lead}
          </Text>
        )}
      </div>
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
  );
}
