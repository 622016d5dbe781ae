import { Table, Text, Title } from "@mantine/core";
import { api } from "../api/client";
import { usePolling } from "../api/polling";
import { count, engineName } from "../ui/format";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";

const tiles: Record<string, string> = {
  connections: "Connections",
  "query-performance": "Query Performance",
  "wait-events": "Wait Events",
};

/** DroppedEngines names the engines that tiles were answered without; nothing where there are none. */
export function DroppedEngines() {
  const { data, error, refetch } = api.useQuery(
    "get",
    "/api/v1/ops/engines",
    {},
    { ...usePolling(() => 5_000), staleTime: 0 },
  );
  if (error && !data)
    return <ProblemNote error={error} title="Missing engines could not be loaded" onRetry={refetch} />;
  if (!data || data.items.length === 0) return null;
  return (
    <Panel p={0}>
      <Title order={2} px="md" pt="md">
        Engines missing from tiles
      </Title>
      <Text size="sm" c="dimmed" px="md" mt={4} mb="xs" maw="75ch">
        If an engine cannot be read in time, a tile shows the others without it. Such answers are not cached.
      </Text>
      <Table.ScrollContainer type="native" minWidth={640} tabIndex={0} role="region" aria-label="Missing engines">
        <Table verticalSpacing="sm" horizontalSpacing="md">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Tile</Table.Th>
              <Table.Th scope="col">Engine</Table.Th>
              <Table.Th scope="col" ta="right">
                Answers without it
              </Table.Th>
              <Table.Th scope="col">Last</Table.Th>
              <Table.Th scope="col">Why</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.items.map((d) => (
              <Table.Tr key={`${d.tile} ${d.engine}`}>
                <Table.Td>{tiles[d.tile] ?? d.tile}</Table.Td>
                <Table.Td>{engineName(d.engine)}</Table.Td>
                <Table.Td ta="right" className="numbers">
                  {count(d.drops)}
                </Table.Td>
                <Table.Td>
                  <Time at={d.lastAt} relative />
                </Table.Td>
                <Table.Td>{d.lastError}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Panel>
  );
}
