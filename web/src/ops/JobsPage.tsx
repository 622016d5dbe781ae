import { Anchor, Group, Loader, Skeleton, Stack, Table, Text } from "@mantine/core";
import { IconCircleDashed, IconClock, IconSkull } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { count } from "../ui/format";
import { Mark } from "../ui/Mark";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";

/** JobsPage is the queue of reports to build. */
export function JobsPage() {
  const admin = useSession().can("admin");
  const { data, error, isFetching, refetch } = api.useQuery(
    "get",
    "/api/v1/ops/jobs",
    {},
    { ...usePolling(() => 5_000), staleTime: 0 },
  );
  return (
    <>
      <PageTitle
        title="Job queue"
        lead="Reports that are waiting, being built, or have failed for good. Oldest first, at most 200. Updates every 5 seconds."
      />
      <Stack gap="md">
        {error && <ProblemNote error={error} title="The queue could not be loaded" onRetry={refetch} />}
        {data && (
          <Text size="sm" className="numbers">
            <strong>{count(data.building)}</strong> being built, <strong>{count(data.queued)}</strong> waiting
          </Text>
        )}
        <Panel p={0} aria-busy={isFetching}>
          {!data && !error && <Skeleton height={160} m="md" w="auto" />}
          {data?.items.length === 0 && (
            <EmptyState title="The queue is empty">
              Requested reports appear here until they are built, usually for a few seconds.
            </EmptyState>
          )}
          {data && data.items.length > 0 && <List items={data.items} admin={admin} />}
        </Panel>
      </Stack>
    </>
  );
}

function JobState({ status }: { status: string }) {
  switch (status) {
    case "queued":
      return (
        <Mark tone="quiet" icon={<IconClock size={16} aria-hidden />}>
          Queued
        </Mark>
      );
    case "running":
      return (
        <Mark tone="busy" icon={<Loader size={14} aria-hidden />}>
          Running
        </Mark>
      );
    case "dead":
      return (
        <Mark tone="bad" icon={<IconSkull size={16} aria-hidden />}>
          Dead
        </Mark>
      );
    default:
      return (
        <Mark tone="quiet" icon={<IconCircleDashed size={16} aria-hidden />}>
          {status}
        </Mark>
      );
  }
}

function List({ items, admin }: { items: Schemas["Job"][]; admin: boolean }) {
  return (
    <Table.ScrollContainer type="native" minWidth={720} tabIndex={0} role="region" aria-label="Jobs">
      <Table verticalSpacing="sm" horizontalSpacing="md">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Report</Table.Th>
            <Table.Th scope="col">Status</Table.Th>
            <Table.Th scope="col" ta="right">
              Attempts
            </Table.Th>
            <Table.Th scope="col">Worker</Table.Th>
            <Table.Th scope="col">Lease ends</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((job) => (
            <Table.Tr key={job.reportId}>
              <Table.Td>
                <Anchor
                  size="sm"
                  renderRoot={(props) => (
                    <Link to="/reports/$reportId" params={{ reportId: job.reportId }} {...props} />
                  )}
                >
                  {job.reportId}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <Group gap="xs">
                  <JobState status={job.status} />
                  {job.status === "dead" && admin && (
                    <Anchor size="xs" renderRoot={(props) => <Link to="/ops/dead-letters" {...props} />}>
                      Dead letters
                    </Anchor>
                  )}
                </Group>
              </Table.Td>
              <Table.Td ta="right" className="numbers">
                {count(job.attempts)}
              </Table.Td>
              <Table.Td>{job.workerId ?? "none"}</Table.Td>
              <Table.Td>{job.leasedUntil ? <Time at={job.leasedUntil} ahead /> : "none"}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
