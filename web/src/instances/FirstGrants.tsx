import { List, Text, Title } from "@mantine/core";
import { Panel } from "../ui/Panel";
import { Snippet } from "../ui/Snippet";

const usual = "muster";

/** identifier is a name as SQL takes it. Another than the usual one is quoted: it may be a keyword. */
const identifier = (name: string) => (name === usual ? name : `"${name.replaceAll('"', '""')}"`);

/** grantsFor are the statements, as psql reads them, that make a role able to do what Muster does. */
export const grantsFor = (user: string) => {
  const role = identifier(user.trim() || usual);
  return `CREATE ROLE ${role} LOGIN;
GRANT pg_monitor TO ${role};
-- for Query Performance; in shared_preload_libraries first
CREATE EXTENSION IF NOT EXISTS pg_stat_statements;
-- asks for the password; last, as psql takes for it what is pasted behind
\\password ${role}`;
};

/** FirstGrants is what to run on a server before it is added. */
export function FirstGrants({ user }: { user: string }) {
  return (
    <Panel>
      <Title order={2}>Grants to run first</Title>
      <Text size="sm" c="dimmed" mt={4} mb="sm">
        PostgreSQL 13 to 18. Run this in psql as a superuser.
      </Text>
      <Snippet label="On the instance" text={grantsFor(user)} wrapped />
      <List size="sm" mt="md" spacing={6}>
        <List.Item>
          pg_monitor can read settings, sessions and statements, and change nothing. Muster never reads statement texts.
        </List.Item>
        <List.Item>
          Muster assesses the instance every 6 hours in read-only transactions with timeouts. It counts sessions every
          10 seconds and measures the rest every minute.
        </List.Item>
        <List.Item>
          The role needs CONNECT on each database, which PUBLIC has by default. Afterwards Muster lists what the role
          cannot read, with the grants it needs.
        </List.Item>
      </List>
    </Panel>
  );
}
