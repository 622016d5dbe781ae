import { Anchor, Button, Table, Text } from "@mantine/core";
import { IconCalendarRepeat, IconPlus } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { noServer } from "../notify/OutboxNote";
import { kindName } from "../reports/kinds";
import { ListCard, ListCards } from "../settings/ListCards";
import { ListSkeleton, ListTable } from "../settings/ListTable";
import { EmptyState } from "../ui/EmptyState";
import { useNarrow } from "../ui/narrow";
import { NoSuchPage, Pager } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { RunMark, RunResult, StandingMark } from "./marks";
import { Untold } from "./Untold";
import { dueText, type Schedule, whenText } from "./words";
import { StaleZones } from "./ZoneData";

/** SchedulesPage is the reports that are requested by the calendar: when, the next one, and what became of the last. */
export function SchedulesPage() {
  const { can, mail } = useSession();
  const { page } = useSearch({ from: "/schedules" });
  const navigate = useNavigate({ from: "/schedules" });
  const narrow = useNarrow();
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
        lead={`Reports that Muster requests by itself and e-mails. A report that could not be requested is listed with its reason.${noServer(mail)}`}
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
          {can("admin") && <Untold />}
          <StaleZones />
          {narrow ? (
            <ListCards label="Schedules" busy={schedules.isPlaceholderData}>
              {items.map((schedule) => (
                <Card key={schedule.id} schedule={schedule} />
              ))}
            </ListCards>
          ) : (
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
          )}
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
  return (
    <Table.Tr style={{ verticalAlign: "top" }} data-schedule={s.id}>
      <Table.Td maw={320}>
        <Name schedule={s} />
      </Table.Td>
      <Table.Td>
        {whenText(s)}
        <Text size="xs" c="dimmed">
          {s.timeZone}
        </Text>
      </Table.Td>
      <Table.Td>
        <Next schedule={s} />
      </Table.Td>
      <Table.Td>
        <Last schedule={s} />
      </Table.Td>
      <Table.Td>
        <Owner schedule={s} />
      </Table.Td>
      <Table.Td>
        <StandingMark schedule={s} />
      </Table.Td>
    </Table.Tr>
  );
}

/** Card is a schedule where there is no room for a table. */
const Card = ({ schedule: s }: { schedule: Schedule }) => (
  <ListCard
    label={s.name}
    title={<Name schedule={s} />}
    mark={<StandingMark schedule={s} />}
    facts={[
      ["Next", <Next key="next" schedule={s} />],
      ["Last", <Last key="last" schedule={s} />],
    ]}
  >
    {whenText(s)}, {s.timeZone}
  </ListCard>
);

type Of = { schedule: Schedule };

const Name = ({ schedule: s }: Of) => (
  <>
    <Anchor
      size="sm"
      fw={500}
      renderRoot={(props) => <Link {...props} to="/schedules/$scheduleId" params={{ scheduleId: s.id } as never} />}
    >
      <bdi>{s.name}</bdi>
    </Anchor>
    <Text size="xs" c="dimmed">
      {kindName(s.kind)} · <bdi>{s.scopeLabel ?? "not available right now"}</bdi>
    </Text>
  </>
);

function Next({ schedule: { nextDueAts, nextDueLocal, timeZone } }: Of) {
  const [next] = nextDueAts;
  if (!next) return "–";
  return (
    <>
      <Time at={next} ahead />
      <Text size="xs" c="dimmed" className="numbers">
        {dueText(nextDueLocal?.[0], next, timeZone)}
      </Text>
    </>
  );
}

function Last({ schedule: { lastRun } }: Of) {
  if (!lastRun) return "Not due yet";
  return (
    <>
      <RunMark status={lastRun.status} />
      <Text size="xs" c="dimmed" component="div">
        <Time at={lastRun.dueAt} />
      </Text>
      <RunResult run={lastRun} brief />
    </>
  );
}

const Owner = ({ schedule: { owner } }: Of) => <bdi>{owner.name || "Erased member"}</bdi>;
