import { Table } from "@mantine/core";
import { api } from "../api/client";
import { usePolling } from "../api/polling";
import { engineName } from "../engines";
import { count } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { ListPanel } from "./ListPanel";

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
    <ListPanel
      title="Engines missing from tiles"
      about="If an engine cannot be read in time, a tile shows the others without it. Such answers are not cached."
      label="Missing engines"
      columns={["Tile", "Engine", { label: "Answers without it", numbers: true }, "Last", "Why"]}
    >
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
    </ListPanel>
  );
}
