import { Table } from "@mantine/core";
import { IconAlertOctagon, IconCircleCheck } from "@tabler/icons-react";
import { api } from "../api/client";
import { usePolling } from "../api/polling";
import { count } from "../ui/format";
import { Mark } from "../ui/Mark";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { ListPanel } from "./ListPanel";

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
    <ListPanel
      title="Failed background loops"
      about="Muster restarts a loop that fails. While a loop is in trouble, its work waits. The log of the process says why it fell."
      label="Background loops"
      columns={["Loop", "Status", { label: "Falls", numbers: true }, "Last", "Process"]}
    >
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
    </ListPanel>
  );
}
