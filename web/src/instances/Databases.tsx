import { Group, Skeleton, Table, Text, Title } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { EmptyState } from "../ui/EmptyState";
import { bytes, growth, plural } from "../ui/format";
import { NotAvailable } from "../ui/NotAvailable";
import { NotKnown } from "../ui/NotKnown";
import { useNow } from "../ui/now";
import { Pager } from "../ui/Pager";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { SearchField } from "./SearchField";

/**
 * Databases lists those of an instance; its page and its search stand in the address. `known` is how many the page says
 * there are: a list that was read before the first assessment is read again until it has as many.
 */
export function Databases({ instanceId, known }: { instanceId: string; known: number }) {
  const search: { q?: string; page?: number } = useSearch({ from: "/instances/$instanceId" });
  const navigate = useNavigate({ from: "/instances/$instanceId" });
  const { data, error, isPending, isFetching, refetch } = api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/databases",
    { params: { path: { instanceId }, query: { q: search.q, page: search.page } } },
    {
      placeholderData: keepPreviousData,
      ...usePolling<Schemas["DatabasePage"]>((list) => !search.q && list.page.totalItems !== known && 2_000),
    },
  );
  return (
    <Panel p={0} aria-busy={isFetching}>
      <Group justify="space-between" p="md" gap="sm">
        <Title order={2}>Databases</Title>
        <SearchField
          narrow
          label="Search databases"
          value={search.q ?? ""}
          onSearch={(q) =>
            navigate({ search: (previous) => ({ ...previous, page: undefined, q: q || undefined }), replace: true })
          }
        />
      </Group>
      {error && !data && <ProblemNote error={error} onRetry={refetch} />}
      {isPending && <Skeleton height={140} m="md" w="auto" />}
      {data?.items.length === 0 && (
        <EmptyState title={search.q ? "No database matches" : known > 0 ? "Loading databases" : "No databases yet"}>
          {!search.q &&
            known === 0 &&
            "Muster lists databases after the first assessment, or when a feed reports them."}
        </EmptyState>
      )}
      {data && data.items.length > 0 && (
        <>
          <NotAvailable missing={data.unavailable} />
          <Table.ScrollContainer type="native" minWidth={520} tabIndex={0} role="region" aria-label="Databases">
            <Table verticalSpacing="xs" horizontalSpacing="md">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">Name</Table.Th>
                  <Table.Th scope="col" ta="right">
                    Size
                  </Table.Th>
                  <Table.Th scope="col" ta="right">
                    Change, 30 days
                  </Table.Th>
                  <Table.Th scope="col">First seen</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.items.map((d) => (
                  <Table.Tr key={d.id}>
                    <Table.Td>{d.name}</Table.Td>
                    <Table.Td ta="right" className="numbers">
                      {d.sizeBytes === null ? "unknown" : bytes(d.sizeBytes)}
                    </Table.Td>
                    <Table.Td ta="right" className="numbers">
                      <Change of={d.sizeChange} />
                    </Table.Td>
                    <Table.Td>
                      <Time at={d.createdAt} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
          <Group px="md" pb="md" grow>
            <Pager
              page={data.page}
              what="databases"
              onTurn={(page) => navigate({ search: (previous) => ({ ...previous, page }) })}
            />
          </Group>
        </>
      )}
    </Panel>
  );
}

/** Change is by how much a database grew or shrank, and over which time where that is less than the 30 days. */
function Change({ of }: { of: Schemas["Database"]["sizeChange"] }) {
  const now = useNow(null);
  if (of === null) return <NotKnown />;
  const days = Math.round((now.getTime() - Date.parse(of.since)) / 86_400_000);
  return (
    <>
      {growth(of.bytes)}
      {days < 29 && (
        <Text size="xs" c="dimmed">
          in {plural(days, "day")}
        </Text>
      )}
    </>
  );
}
