import { Group, Skeleton, Table, Title } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../api/client";
import { EmptyState } from "../ui/EmptyState";
import { bytes } from "../ui/format";
import { Pager } from "../ui/Pager";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { SearchField } from "./SearchField";

/** Databases lists those of a server; its page and its search stand in the address. */
export function Databases({ instanceId }: { instanceId: string }) {
  const search: { q?: string; page?: number } = useSearch({ from: "/instances/$instanceId" });
  const navigate = useNavigate({ from: "/instances/$instanceId" });
  const { data, error, isPending, isFetching, refetch } = api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/databases",
    { params: { path: { instanceId }, query: { q: search.q, page: search.page } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <Panel p={0} aria-busy={isFetching}>
      <Group justify="space-between" p="md" gap="sm">
        <Title order={2}>Databases</Title>
        <SearchField
          narrow
          label="Search databases"
          value={search.q ?? ""}
          onSearch={(q) => navigate({ search: { q: q || undefined }, replace: true })}
        />
      </Group>
      {error && !data && <ProblemNote error={error} onRetry={refetch} />}
      {isPending && <Skeleton height={140} m="md" w="auto" />}
      {data?.items.length === 0 && (
        <EmptyState title={search.q ? "No database of that name" : "No database known"}>
          {!search.q && "Databases come with the first assessment, or with what is pushed of the server."}
        </EmptyState>
      )}
      {data && data.items.length > 0 && (
        <>
          <Table.ScrollContainer type="native" minWidth={420} tabIndex={0} role="region" aria-label="Databases">
            <Table verticalSpacing="xs" horizontalSpacing="md">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">Name</Table.Th>
                  <Table.Th scope="col" ta="right">
                    Size
                  </Table.Th>
                  <Table.Th scope="col">Known since</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.items.map((d) => (
                  <Table.Tr key={d.id}>
                    <Table.Td>{d.name}</Table.Td>
                    <Table.Td ta="right" className="numbers">
                      {d.sizeBytes === null ? "unknown" : bytes(d.sizeBytes)}
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
