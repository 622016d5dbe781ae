import { Table, Text } from "@mantine/core";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { count, plural } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { ListPanel } from "./ListPanel";

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
    <ListPanel
      title="Event logs"
      about="Muster verifies every event again within four hours: its data, its digest, its place in the chain and in the tree. It signs nothing more of a log in which events were changed or deleted."
      label="Event logs"
      columns={["Log", { label: "Verified", numbers: true }, "Since", "Misfits"]}
    >
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
    </ListPanel>
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
