import { Center, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { PlainHTTPWarning } from "./plainHttp";

/** AccessFrame is the card of what is seen before anybody is signed in; it belongs to no organization yet. */
export function AccessFrame({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Muster`;
  }, [title]);
  return (
    <Center component="main" id="main" mih="100vh" p="md">
      <Stack w="100%" maw={420} gap="md">
        <PlainHTTPWarning />
        <Group gap={10} justify="center">
          <img src="/assets/icon.svg" alt="" width={36} height={36} />
          <Text fw={650} fz="xl">
            Muster
          </Text>
        </Group>
        <Paper withBorder p="xl" shadow="sm">
          <Title order={1} mb={lead ? 4 : "md"}>
            {title}
          </Title>
          {lead && (
            <Text size="sm" c="dimmed" mb="md" component="div">
              {lead}
            </Text>
          )}
          {children}
        </Paper>
      </Stack>
    </Center>
  );
}
