import { Code, List, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { type CheckedEngine, entry } from "../engines";
import { Panel } from "../ui/Panel";
import { Snippet } from "../ui/Snippet";
import { grantsFor } from "./grants";

const where: Record<CheckedEngine, string> = {
  postgresql:
    "PostgreSQL 13 to 18. Run this in psql as a superuser, once. It has all that Muster needs; what is optional stays a comment.",
  sqlserver: "Run this with a password of your own in place of the one in angle brackets.",
  oracle: "Run the part that fits, as an administrator, with a password of your own in place of @password@.",
};

const notes: Record<CheckedEngine, string[]> = {
  postgresql: [
    "pg_monitor can read settings, sessions and statements, and change nothing.",
    "Muster assesses the instance every 6 hours in read-only transactions with timeouts. It counts sessions every 10 seconds and measures the rest every minute.",
    "Afterwards Muster lists what the role cannot read, each with what it reveals. You can decline what you do not want to grant.",
  ],
  sqlserver: [
    "Nothing here can change anything. Muster counts sessions every 30 seconds, measures statements every minute and assesses the instance every 6 hours.",
    "The first part is for measuring, the second for assessments. Muster lists what a login cannot read, with the grants it needs.",
  ],
  oracle: [
    "Nothing here can change anything, or needs the Diagnostics or the Tuning Pack. Muster counts sessions every 10 seconds, measures statements every 20 and assesses the instance every 6 hours.",
    "Parts 1 to 3 are for measuring, the rest for assessments. Muster lists what an account cannot read, with the grants it needs.",
  ],
};

type Typed = { engine: string; user: string; classify: string; database: string };

/** FirstGrants is what to run on a server before it is added. */
export function FirstGrants({ engine, user, classify, database }: Typed) {
  const scripts = grantsFor(engine, user, classify, database);
  const [picked, pick] = useState<string | null>(null);
  const script = scripts.find(({ label }) => label === picked) ?? scripts[0];
  if (!script) return null;
  return (
    <Panel>
      <Title order={2}>Grants to run first</Title>
      <Text size="sm" c="dimmed" mt={4} mb="sm">
        {entry(where, engine)}
      </Text>
      <Stack gap="sm">
        {scripts.length > 1 && (
          <SegmentedControl
            size="xs"
            aria-label="Version"
            data={scripts.map(({ label }) => label)}
            value={script.label}
            onChange={pick}
          />
        )}
        <Snippet label="On the instance" text={script.text} wrapped />
      </Stack>
      <List size="sm" mt="md" spacing={6}>
        {(entry(notes, engine) ?? []).map((note) => (
          <List.Item key={note}>{note}</List.Item>
        ))}
        <List.Item>
          <Code>muster agent grants --engine {engine}</Code> prints such a script, too.
        </List.Item>
      </List>
    </Panel>
  );
}
