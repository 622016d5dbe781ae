import { Table, Text, Title } from "@mantine/core";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { count, plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";

/** EventLogs shows how far the logs are verified, and what does not fit in them. */
export function EventLogs() {
  const { data, error, refetch } = api.useQuery(
    "get",
    "/api/v1/ops/logs",
    {},
    { ...usePolling(() => 5_000), staleTime: 0 },
  );
  if (error && !data) return <ProblemNote error={error} title="Event logs could not be loaded" onRetry={refetch} />;
  if (!data) return null;
  return (
    <Panel p={0}>
      <Title order={2} px="md" pt="md">
        Event logs
      </Title>
      <Text size="sm" c="dimmed" px="md" mt={4} mb="xs" maw="75ch">
        Muster verifies every event again within four hours: its data, its digest, its place in the chain and in the
        tree. It signs nothing more of a log in which events were changed or deleted.
      </Text>
      <Table.ScrollContainer type="native" minWidth={640} tabIndex={0} role="region" aria-label="Event logs">
        <Table verticalSpacing="sm" horizontalSpacing="md">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Log</Table.Th>
              <Table.Th scope="col" ta="right">
                Verified
              </Table.Th>
              <Table.Th scope="col">Since</Table.Th>
              <Table.Th scope="col">Misfits</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.items.map((l) => (
              <Table.Tr key={l.log}>
                <Table.Td>{l.log}</Table.Td>
                <Table.Td ta="right" className="numbers">
                  {count(l.position)} of {count(l.headPosition)}
                </Table.Td>
                <Table.Td>
                  <Time at={l.verifiedSince} relative />
                </Table.Td>
                <Table.Td>
                  <Misfits log={l} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Panel>
  );
}

function Misfits({ log }: { log: Schemas["EventLog"] }) {
  if (log.misfits === 0) {
    return (
      <Text size="sm" c="dimmed">
        none
      </Text>
    );
  }
  return (
    <Text size="sm" fw={600}>
      {plural(log.misfits, "misfit")}, the first at position {count(log.firstMisfit ?? 0)}: run muster events verify.
    </Text>
  );
}
