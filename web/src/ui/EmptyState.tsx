import { Center, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** EmptyState says why there is nothing, and what to do to have something. */
export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <Center py="xl">
      <Stack gap={6} align="center" maw="46ch" ta="center">
        {icon}
        <Text fw={600}>{title}</Text>
        {children && (
          <Text size="sm" c="dimmed" component="div">
            {children}
          </Text>
        )}
        {action}
      </Stack>
    </Center>
  );
}
