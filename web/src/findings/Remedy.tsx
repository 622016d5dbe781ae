import { Badge, Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconCopy } from "@tabler/icons-react";
import type { Schemas } from "../api/client";
import { copy } from "../shell/clipboard";
import { Panel } from "../ui/Panel";
import { Snippet } from "../ui/Snippet";
import { allOf } from "./allOf";
import type { Finding } from "./FindingsPage";

/** Remedy is what to do: the impact before the statement, then how to see that it helped and how to take it back. */
export function Remedy({ finding, remediation: r }: { finding: Finding; remediation: Schemas["Remediation"] }) {
  const all = allOf(finding, r);
  const where =
    r.runIn === null ? (
      "in any database"
    ) : (
      <>
        in database <bdi>{r.runIn}</bdi>
      </>
    );
  return (
    <Panel>
      <Group gap="xs" mb="xs">
        <Title order={2}>Remediation</Title>
        {r.needsRestart && (
          <Badge variant="outline" color="gray" size="sm" radius="sm" tt="none">
            Needs a restart
          </Badge>
        )}
        {all && (
          <Button
            size="compact-sm"
            variant="default"
            ml="auto"
            leftSection={<IconCopy size={14} aria-hidden />}
            onClick={() => copy(all, "Copied. The undo is in it as a comment.")}
          >
            Copy all as one script
          </Button>
        )}
      </Group>
      <Stack gap="md">
        <Text size="sm" maw="75ch">
          {r.summary}
        </Text>
        {r.impact && (
          <Text size="sm" maw="75ch">
            <Text span fw={600} size="sm">
              What that changes:{" "}
            </Text>
            {r.impact}
          </Text>
        )}
        {r.statement === null ? (
          <Text size="sm" c="dimmed">
            There is no ready-made fix: the statement depends on your decision.
          </Text>
        ) : (
          <>
            <Text size="sm" c="dimmed">
              As a superuser on <bdi>{finding.instance.name}</bdi>, {where}, line by line
              {r.needsRestart ? "; then restart the server" : ""}.
            </Text>
            <Snippet label="Fix" text={r.statement} wrapped />
          </>
        )}
        {r.verify && <Snippet label="Check: no row is returned once it is fixed" text={r.verify} wrapped />}
        {r.rollback && <Snippet label="Undo: restore the measured value" text={r.rollback} wrapped />}
      </Stack>
    </Panel>
  );
}
