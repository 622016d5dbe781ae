import { Table, Text, Title } from "@mantine/core";
import { IconAlertOctagon, IconCircleCheck } from "@tabler/icons-react";
import { api } from "../api/client";
import { usePolling } from "../api/polling";
import { count } from "../ui/format";
import { Mark } from "../ui/Mark";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";

/** FallenLoops names the background loops that fell in the last 24 hours; nothing where none did. */
export function FallenLoops() {
  const { data, error, refetch } = api.useQuery(
    "get",
    "/api/v1/ops/loops",
    {},
    { ...usePolling(() => 5_000), staleTime: 0 },
  );
  if (error && !data)
    return <ProblemNote error={error} title="Background loops could not be loaded" onRetry={refetch} />;
  if (!data || data.items.length === 0) return null;
  return (
    <Panel p={0}>
      <Title order={2} px="md" pt="md">
        Background loops that fell
      </Title>
      <Text size="sm" c="dimmed" px="md" mt={4} mb="xs" maw="75ch">
        Muster starts a loop that fails again. While a loop is in trouble, its work waits. The log of the process says
        why it fell.
      </Text>
      <Table.ScrollContainer type="native" minWidth={640} tabIndex={0} role="region" aria-label="Background loops">
        <Table verticalSpacing="sm" horizontalSpacing="md">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Loop</Table.Th>
              <Table.Th scope="col">Status</Table.Th>
              <Table.Th scope="col" ta="right">
                Falls
              </Table.Th>
              <Table.Th scope="col">Last</Table.Th>
              <Table.Th scope="col">Process</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.items.map((l) => (
              <Table.Tr key={`${l.process} ${l.loop}`}>
                <Table.Td>{l.loop}</Table.Td>
                <Table.Td>
                  {l.inTrouble ? (
                    <Mark tone="bad" icon={<IconAlertOctagon size={16} aria-hidden />}>
                      In trouble
                    </Mark>
                  ) : (
                    <Mark tone="good" icon={<IconCircleCheck size={16} aria-hidden />}>
                      Running again
                    </Mark>
                  )}
                </Table.Td>
                <Table.Td ta="right" className="numbers">
                  {count(l.falls)}
                </Table.Td>
                <Table.Td>
                  <Time at={l.lastAt} relative />
                </Table.Td>
                <Table.Td>{l.process}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Panel>
  );
}
