import { Alert, Grid, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconPlayerPause } from "@tabler/icons-react";
import { useParams, useSearch } from "@tanstack/react-router";
import { Fragment } from "react";
import { api } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { kindName } from "../reports/kinds";
import { nameOr, useMemberChoices } from "../reports/requestChoices";
import { Facts } from "../reports/statusFacts";
import { absoluteTime } from "../ui/format";
import { NotThere } from "../ui/NotThere";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { Trail } from "../ui/Trail";
import { EditSchedule } from "./EditSchedule";
import { StandingMark } from "./marks";
import { Dues } from "./NextDues";
import { Runs } from "./Runs";
import { mayChange, ScheduleActions } from "./ScheduleActions";
import { reasonText, type Schedule, whenText } from "./words";

/** SchedulePage is one schedule: what it requests and when, and what became of each due time. */
export function SchedulePage() {
  const { scheduleId } = useParams({ from: "/schedules/$scheduleId" });
  const schedule = api.useQuery(
    "get",
    "/api/v1/schedules/{scheduleId}",
    { params: { path: { scheduleId } } },
    { ...usePolling(() => 30_000), staleTime: 0 },
  );
  if (schedule.data) return <Shown schedule={schedule.data} />;
  if (schedule.isPending) {
    return (
      <>
        <PageTitle title="Schedule" />
        <Skeleton h={320} radius="md" />
      </>
    );
  }
  return (
    <>
      <PageTitle title="Schedule" />
      <NotThere
        what="schedule"
        error={schedule.error}
        onRetry={() => schedule.refetch()}
        all={{ to: "/schedules", name: "schedules" }}
      >
        It may have been removed. Reports that it requested stay in the history.
      </NotThere>
    </>
  );
}

function Shown({ schedule: s }: { schedule: Schedule }) {
  const session = useSession();
  const { edit } = useSearch({ from: "/schedules/$scheduleId" });
  if (edit && mayChange(session, s)) return <EditSchedule schedule={s} />;
  return (
    <>
      <Trail to="/schedules" name="Schedules">
        <bdi>{s.name}</bdi>
      </Trail>
      <PageTitle
        title={s.name}
        lead={`${kindName(s.kind)} report. ${whenText(s)}, ${s.timeZone}.`}
        actions={mayChange(session, s) && <ScheduleActions schedule={s} />}
      />
      <Stack gap="md">
        {s.enabled && s.paused !== null && (
          <Alert color="yellow" variant="outline" icon={<IconPlayerPause aria-hidden />} title="Paused">
            {reasonText(s.paused)} No report is requested until{" "}
            {s.paused !== "owner_erased" && "that is over, or until "}an administrator takes the schedule over.
          </Alert>
        )}
        <Grid gap="md">
          <Grid.Col span={{ base: 12, md: 7 }}>
            <Panel h="100%">
              <Title order={2} mb="sm">
                Report
              </Title>
              <ScheduleFacts schedule={s} />
            </Panel>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }}>
            <Panel h="100%">
              <Title order={2} mb="sm">
                Next due times
              </Title>
              {s.nextDueAts.length > 0 ? (
                <Dues dues={s.nextDueAts} local={s.nextDueLocal} timeZone={s.timeZone} />
              ) : (
                <Text size="sm" c="dimmed">
                  None: the schedule is off.
                </Text>
              )}
            </Panel>
          </Grid.Col>
        </Grid>
        <Runs scheduleId={s.id} timeZone={s.timeZone} />
      </Stack>
    </>
  );
}

function ScheduleFacts({ schedule: s }: { schedule: Schedule }) {
  const { mail } = useSession();
  const { named } = useMemberChoices("", s.recipientIds);
  const owner = s.owner.name || "Erased member";
  const others = s.recipientIds.map((id) => nameOr(named, id, "member"));
  return (
    <Facts
      facts={[
        ["State", <StandingMark key="state" schedule={s} />],
        ["Covers", <bdi key="scope">{s.scopeLabel ?? "not available right now"}</bdi>],
        ["Window", s.scope.window && `Past ${s.scope.window === "30d" ? "30" : "7"} days, up to the due time`],
        ["Owner", <bdi key="owner">{owner}</bdi>],
        [
          mail === "server" ? "E-mailed to" : "E-mails kept in the outbox for",
          <Names key="recipients" names={[owner, ...others]} />,
        ],
        ["Requested", s.onlyIfChanged ? "Only if the findings changed" : "Every time"],
        ["Created", absoluteTime(s.createdAt)],
      ]}
    />
  );
}

/** Names are a few names in a row, none of which reaches into the next. */
const Names = ({ names }: { names: string[] }) =>
  names.map((name, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: two members may have one name
    <Fragment key={n}>
      {n > 0 && ", "}
      <bdi>{name}</bdi>
    </Fragment>
  ));
