import { Anchor, Button, Table, Text } from "@mantine/core";
import { IconCalendarRepeat, IconPlus } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { kindName } from "../reports/status";
import { ListSkeleton, ListTable } from "../settings/ListTable";
import { EmptyState } from "../ui/EmptyState";
import { NoSuchPage, Pager } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { RunMark, RunResult, StandingMark } from "./marks";
import { type Schedule, whenText } from "./words";

/** SchedulesPage is the reports that are requested by the calendar: when, the next one, and what became of the last. */
export function SchedulesPage() {
  const { can } = useSession();
  const { page } = useSearch({ from: "/schedules" });
  const navigate = useNavigate({ from: "/schedules" });
  const schedules = api.useQuery(
    "get",
    "/api/v1/schedules",
    { params: { query: { page } } },
    { ...usePolling(() => 30_000), placeholderData: keepPreviousData, staleTime: 0 },
  );
  const items = schedules.data?.items;
  const create = can("reports:create") && (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      renderRoot={(props) => <Link {...props} to="/schedules/new" />}
    >
      New schedule
    </Button>
  );
  return (
    <>
      <PageTitle
        title="Schedules"
        beta
        lead="Reports that Muster requests by itself and e-mails. A report that could not be requested is listed with its reason."
        actions={create}
      />
      {schedules.isPending && <ListSkeleton rows={4} />}
      {schedules.isError && (
        <ProblemNote
          error={schedules.error}
          title="Schedules could not be loaded"
          onRetry={() => schedules.refetch()}
        />
      )}
      {items?.length === 0 &&
        ((schedules.data?.page.totalItems ?? 0) > 0 ? (
          <NoSuchPage
            icon={<IconCalendarRepeat size={28} aria-hidden />}
            total={schedules.data?.page.totalItems ?? 0}
            what="schedules"
            toFirst={() => navigate({ search: {} })}
          />
        ) : (
          <EmptyState icon={<IconCalendarRepeat size={28} aria-hidden />} title="No schedules">
            {can("reports:create")
              ? "Create one for a report that you need every day, week or month."
              : "Members and administrators can have a report requested every day, week or month."}
          </EmptyState>
        ))}
      {schedules.data && items && items.length > 0 && (
        <>
          <ListTable
            label="Schedules"
            columns={["Name", "When", "Next", "Last", "Owner", "State"]}
            minWidth={980}
            busy={schedules.isPlaceholderData}
          >
            {items.map((schedule) => (
              <Row key={schedule.id} schedule={schedule} />
            ))}
          </ListTable>
          <Pager
            page={schedules.data.page}
            what="schedules"
            onTurn={(next) => navigate({ search: (previous) => ({ ...previous, page: next }) })}
          />
        </>
      )}
    </>
  );
}

function Row({ schedule: s }: { schedule: Schedule }) {
  const next = s.nextDueAts[0];
  return (
    <Table.Tr style={{ verticalAlign: "top" }} data-schedule={s.id}>
      <Table.Td maw={320}>
        <Anchor
          size="sm"
          fw={500}
          renderRoot={(props) => <Link {...props} to="/schedules/$scheduleId" params={{ scheduleId: s.id } as never} />}
        >
          <bdi>{s.name}</bdi>
        </Anchor>
        <Text size="xs" c="dimmed">
          {kindName(s.kind)} · <bdi>{s.scopeLabel}</bdi>
        </Text>
      </Table.Td>
      <Table.Td>
        {whenText(s)}
        <Text size="xs" c="dimmed">
          {s.timeZone}
        </Text>
      </Table.Td>
      <Table.Td>{next ? <Time at={next} ahead /> : "–"}</Table.Td>
      <Table.Td>
        {s.lastRun ? (
          <>
            <RunMark status={s.lastRun.status} />
            <Text size="xs" c="dimmed" component="div">
              <Time at={s.lastRun.dueAt} />
            </Text>
            <RunResult run={s.lastRun} />
          </>
        ) : (
          "Not yet"
        )}
      </Table.Td>
      <Table.Td>
        <bdi>{s.owner.name || "Erased member"}</bdi>
      </Table.Td>
      <Table.Td>
        <StandingMark schedule={s} />
      </Table.Td>
    </Table.Tr>
  );
}
