import { Table, Text, Title } from "@mantine/core";
import { IconCalendarRepeat } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../api/client";
import { usePolling, whileMoving } from "../api/polling";
import { ListCard, ListCards } from "../settings/ListCards";
import { ListSkeleton, ListTable } from "../settings/ListTable";
import { useNarrow } from "../ui/narrow";
import { NoSuchPage, Pager } from "../ui/Pager";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { RunMark, RunResult } from "./marks";
import { dueText, type Run } from "./words";

/** Runs is what became of each due time of a schedule, newest first. */
export function Runs({ scheduleId, timeZone }: { scheduleId: string; timeZone: string }) {
  const { page } = useSearch({ from: "/schedules/$scheduleId" });
  const navigate = useNavigate({ from: "/schedules/$scheduleId" });
  const narrow = useNarrow();
  const runs = api.useQuery(
    "get",
    "/api/v1/schedules/{scheduleId}/runs",
    { params: { path: { scheduleId }, query: { page } } },
    {
      ...usePolling<{ items: Run[] }>(({ items }) =>
        items.some((run) => run.status === "waiting") ? whileMoving : 30_000,
      ),
      placeholderData: keepPreviousData,
      staleTime: 0,
    },
  );
  const items = runs.data?.items;
  const total = runs.data?.page.totalItems ?? 0;
  const turn = (next: number | undefined) => navigate({ search: (previous) => ({ ...previous, page: next }) });
  return (
    <section aria-labelledby="runs">
      <Title order={2} id="runs" mb={4}>
        Runs
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Due times are by the clocks of {timeZone}.
      </Text>
      {runs.isPending && <ListSkeleton rows={4} />}
      {runs.isError && (
        <ProblemNote error={runs.error} title="Runs could not be loaded" onRetry={() => runs.refetch()} />
      )}
      {items?.length === 0 &&
        (total > 0 ? (
          <NoSuchPage
            icon={<IconCalendarRepeat size={28} aria-hidden />}
            total={total}
            what="runs"
            toFirst={() => turn(undefined)}
          />
        ) : (
          <Panel>
            <Text size="sm" c="dimmed">
              The schedule was not due yet.
            </Text>
          </Panel>
        ))}
      {runs.data && items && items.length > 0 && (
        <>
          {narrow ? (
            <ListCards label="Runs" busy={runs.isPlaceholderData}>
              {items.map((run) => (
                <ListCard
                  key={run.dueAt}
                  label={dueText(run.dueLocal, run.dueAt, timeZone)}
                  title={<Due run={run} timeZone={timeZone} />}
                  mark={<RunMark status={run.status} />}
                >
                  <RunResult run={run} />
                </ListCard>
              ))}
            </ListCards>
          ) : (
            <ListTable
              label="Runs"
              columns={["Due", "Status", "Result", "Requested"]}
              minWidth={720}
              busy={runs.isPlaceholderData}
            >
              {items.map((run) => (
                <Table.Tr key={run.dueAt} data-run={run.status} style={{ verticalAlign: "top" }}>
                  <Table.Td>
                    <Due run={run} timeZone={timeZone} />
                  </Table.Td>
                  <Table.Td>
                    <RunMark status={run.status} />
                  </Table.Td>
                  <Table.Td>
                    <RunResult run={run} />
                  </Table.Td>
                  <Table.Td>{run.startedAt ? <Time at={run.startedAt} /> : "–"}</Table.Td>
                </Table.Tr>
              ))}
            </ListTable>
          )}
          <Pager page={runs.data.page} what="runs" onTurn={turn} />
        </>
      )}
    </section>
  );
}

const Due = ({ run, timeZone }: { run: Run; timeZone: string }) => (
  <Text size="sm" span className="numbers" style={{ whiteSpace: "nowrap" }}>
    <time dateTime={run.dueAt}>{dueText(run.dueLocal, run.dueAt, timeZone)}</time>
  </Text>
);
