import { Badge, Box, Button, Flex, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { IconEye, IconFileText, IconMail, IconTable } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useId } from "react";
import { useSession } from "../api/session";
import type { Card } from "./catalogCards";

/** CatalogCard is one report of the catalog, with what can be done with it. A sample carries its ribbon. */
export function CatalogCard({ card }: { card: Card }) {
  const heading = useId();
  const asynchronous = "request" in card.action;
  return (
    <Paper withBorder component="article" aria-labelledby={heading} style={{ overflow: "hidden" }}>
      {!asynchronous && <Ribbon />}
      <Flex p="md" gap="md" justify="space-between" direction={{ base: "column", sm: "row" }}>
        <Stack gap="xs" flex="1 1 0" miw={0}>
          <Title order={3} id={heading}>
            {card.name}
          </Title>
          <Text size="sm" maw="64ch">
            {card.description}
          </Text>
          <Group component="dl" m={0} style={{ columnGap: 32, rowGap: 4 }}>
            <Fact name="Audience" value={card.audience} />
            <Fact name="Cadence" value={card.cadence} />
          </Group>
          <Group gap={6} mt={4}>
            {card.formats.map((format) => (
              <Chip key={format} icon={format === "PDF" ? <IconFileText size={14} /> : <IconTable size={14} />}>
                {format}
              </Chip>
            ))}
            {asynchronous && <Chip icon={<IconMail size={14} />}>Email</Chip>}
          </Group>
        </Stack>
        <Actions card={card} />
      </Flex>
    </Paper>
  );
}

function Ribbon() {
  return (
    <Group
      gap={6}
      px="md"
      py={4}
      bg="var(--mantine-color-yellow-light)"
      style={{ borderBottom: "1px solid var(--muster-line)" }}
    >
      <IconEye size={16} aria-hidden />
      <Text size="sm" fw={600}>
        Preview — sample data
      </Text>
    </Group>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <Box>
      <Text component="dt" size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="dd" size="sm" m={0}>
        {value}
      </Text>
    </Box>
  );
}

function Chip({ icon, children }: { icon: React.ReactNode; children: string }) {
  return (
    <Badge variant="default" radius="sm" tt="none" fw={500} leftSection={icon}>
      {children}
    </Badge>
  );
}

function Actions({ card }: { card: Card }) {
  const { can } = useSession();
  const column = { base: "row", sm: "column" } as const;
  const { open } = card.action;
  const opens = open && (
    <Button
      variant="default"
      aria-label={`Open ${card.name}`}
      renderRoot={(props) => <Link to="/reports/preview/$card" params={{ card: open }} {...props} />}
    >
      Open
    </Button>
  );
  if (!("request" in card.action)) {
    return (
      <Flex direction={column} gap="xs" miw={110}>
        {opens}
      </Flex>
    );
  }
  const kind = card.action.request;
  return (
    <Flex direction={column} gap="xs" miw={110}>
      {can("reports:create") && (
        <Button
          aria-label={`Request ${card.name}`}
          renderRoot={(props) => <Link to="/reports/view" search={{ kind }} {...props} />}
        >
          Request
        </Button>
      )}
      {opens}
      <Button
        variant="subtle"
        aria-label={`History of ${card.name}`}
        renderRoot={(props) => <Link to="/reports/history" search={{ kind }} {...props} />}
      >
        History
      </Button>
    </Flex>
  );
}
