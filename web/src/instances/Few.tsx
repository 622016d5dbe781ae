import { Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";

type Asked = { data: unknown; error: unknown; refetch: () => unknown };

/** Few is a panel of the first few of a list, and the way to all of it. */
export function Few({
  title,
  all,
  asked,
  none,
  note,
  children,
}: {
  title: string;
  all?: ReactNode;
  asked: Asked;
  /** Stands where there are none. */
  none: ReactNode;
  /** Stands below them. */
  note?: ReactNode;
  children: ReactNode[];
}) {
  return (
    <Panel miw={0}>
      <Group justify="space-between" mb="sm">
        <Title order={2}>{title}</Title>
        {all}
      </Group>
      {Boolean(asked.error) && !asked.data && <ProblemNote error={asked.error} onRetry={asked.refetch} />}
      {!asked.data && !asked.error && <Skeleton height={100} />}
      {Boolean(asked.data) && children.length === 0 && (
        <Text size="sm" c="dimmed">
          {none}
        </Text>
      )}
      <Stack gap="xs" style={{ containerType: "inline-size" }}>
        {children}
      </Stack>
      {Boolean(asked.data) && note}
    </Panel>
  );
}
