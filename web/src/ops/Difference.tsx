import { CloseButton, Group, Skeleton, Table, Text, Title } from "@mantine/core";
import { api, type Schemas } from "../api/client";
import { asProblem } from "../api/problem";
import { count, plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";

/**
 * Difference is what the last rebuild of a read model changed, in rows by table. The rows themselves may be another
 * organization's, so they are shown on the command line alone.
 */
export function Difference({ name, onClose }: { name: string; onClose: () => void }) {
  const { data, error, isPending, refetch } = api.useQuery(
    "get",
    "/api/v1/ops/projections/{name}/diff",
    { params: { path: { name } } },
    { staleTime: 0, gcTime: 0 },
  );
  const never = error && asProblem(error).status === 404;
  return (
    <Panel>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Title order={2}>Last rebuild of {name}</Title>
        <CloseButton onClick={onClose} aria-label="Close the difference" />
      </Group>
      <div aria-live="polite">
        {isPending && <Skeleton height={60} />}
        {never && <Text size="sm">{name} was never rebuilt, so there is nothing to compare.</Text>}
        {error && !never && <ProblemNote error={error} onRetry={refetch} />}
        {data && <Counts diff={data} />}
      </div>
    </Panel>
  );
}

const total = (tables: Schemas["TableDifference"][]) =>
  tables.reduce((sum, t) => sum + t.onlyOld + t.onlyNew + t.different, 0);

function Counts({ diff }: { diff: Schemas["ProjectionDiff"] }) {
  const compared = Object.entries(diff.positions)
    .map(([log, position]) => `${log} ${count(position)}`)
    .join(", ");
  const rows = diff.tables.reduce((sum, t) => sum + t.rows, 0);
  return (
    <>
      <Text size="sm">
        {diff.empty
          ? `No difference: ${plural(rows, "row")} in ${plural(diff.tables.length, "table")}, the same before and after.`
          : `${plural(total(diff.tables), "row")} of ${count(rows)} differed.`}
        {compared && ` Compared at ${compared}.`}
      </Text>
      {diff.tables.length > 0 && <Tables tables={diff.tables} />}
      {!diff.empty && (
        <Text size="sm" c="dimmed" mt="xs">
          Show the rows: <code>muster projections diff {diff.name}</code>
        </Text>
      )}
    </>
  );
}

function Tables({ tables }: { tables: Schemas["TableDifference"][] }) {
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={520}
      mt="sm"
      tabIndex={0}
      role="region"
      aria-label="Difference by table"
    >
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Table</Table.Th>
            {["Rows now", "Only before", "Only now", "Changed"].map((name) => (
              <Table.Th key={name} scope="col" ta="right">
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tables.map((t) => (
            <Table.Tr key={t.table}>
              <Table.Td>{t.table}</Table.Td>
              {[t.rows, t.onlyOld, t.onlyNew, t.different].map((n, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: four columns that never move
                <Table.Td key={at} ta="right" className="numbers" fw={at > 0 && n > 0 ? 650 : undefined}>
                  {count(n)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
