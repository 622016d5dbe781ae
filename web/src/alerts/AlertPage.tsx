import { Anchor, Grid, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconBellOff } from "@tabler/icons-react";
import { Link, useParams, useRouterState } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { Problem } from "../api/problem";
import { useSession } from "../api/session";
import { branchesOf } from "../blocking/episode";
import { SessionTable } from "../blocking/SessionTable";
import { WaitTree } from "../blocking/WaitTree";
import { ServerLink } from "../instances/ServerLink";
import { EmptyState } from "../ui/EmptyState";
import { count } from "../ui/format";
import { NotAvailable } from "../ui/NotAvailable";
import { useNow } from "../ui/now";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { part } from "../ui/part";
import { Time } from "../ui/Time";
import { Trail } from "../ui/Trail";
import { useScope } from "../window/scope";
import { AlertActions } from "./AlertActions";
import { AlertTimeline } from "./AlertTimeline";
import { aroundOf } from "./around";
import { durationText, MaintenanceBadge, MutedBadge, SeverityBadge, StateBadge } from "./badges";
import { aboutSessions, isWatched, meaningOf, measuredOf, watchRuleOf } from "./rules";
import "./useAlertsSearch";
import { WhoWasTold } from "./WhoWasTold";

const AlertChart = lazy(() => part(() => import("./AlertChart")).then((m) => ({ default: m.AlertChart })));

/** AlertPage is one alert: what, where, since when, what happened to it, and what can be done about it. */
export function AlertPage() {
  const { alertId = "" } = useParams({ strict: false });
  const asked = api.useQuery(
    "get",
    "/api/v1/alerts/{alertId}",
    { params: { path: { alertId } } },
    usePolling<Schemas["AlertDetail"]>((alert) => (alert.open ? 30_000 : false)),
  );
  if (asked.data) return <Shown alert={asked.data} busy={asked.isFetching} />;
  if (!asked.error) return <Loading />;
  // 400 is an address whose id is none.
  const unknown = (asked.error as unknown) instanceof Problem && [400, 404].includes(asked.error.status ?? 0);
  return (
    <>
      <Back />
      <PageTitle title="Alert" />
      {unknown ? (
        <Unknown />
      ) : (
        <ProblemNote error={asked.error} title="The alert could not be loaded" onRetry={asked.refetch} />
      )}
    </>
  );
}

/** useBack is the address of the list: as the reader left it, with the scope of now. */
function useBack() {
  const { search } = useScope();
  const list = useRouterState({ select: (s) => s.location.state.alerts });
  if (!list) return search;
  const { range: _range, from: _from, to: _to, instanceId: _ids, tag: _tags, ...filters } = list;
  return { ...filters, ...search };
}

function Back({ children }: { children?: ReactNode }) {
  return (
    <Trail to="/alerts" name="Alerts" search={useBack()}>
      {children ?? "Alert"}
    </Trail>
  );
}

function Unknown() {
  const back = useBack();
  return (
    <Panel>
      <EmptyState
        icon={<IconBellOff size={32} aria-hidden />}
        title="This alert does not exist, or belongs to another organization"
      >
        <Anchor component={Link} to="/alerts" search={back as never} size="sm">
          Go to alerts
        </Anchor>
      </EmptyState>
    </Panel>
  );
}

function Loading() {
  return (
    <div role="status" aria-label="Loading the alert">
      <Skeleton height={20} width={160} mb="xs" />
      <Skeleton height={32} maw={420} mb={8} />
      <Skeleton height={24} width={180} mb="lg" />
      <Skeleton height={320} />
    </div>
  );
}

function Shown({ alert, busy }: { alert: Schemas["AlertDetail"]; busy: boolean }) {
  const { can } = useSession();
  const now = useNow(60_000);
  const rules = api.useQuery("get", "/api/v1/watch-rules", {}, { enabled: isWatched(alert) });
  const watched = watchRuleOf(alert, rules.data?.items);
  const meaning = meaningOf(alert, watched);
  const measured = measuredOf(alert);
  return (
    <article aria-busy={busy}>
      <Back>{alert.title}</Back>
      <PageTitle
        title={alert.title}
        lead={
          <span style={{ display: "inline-flex", gap: 6, flexWrap: "wrap", marginTop: 4 }}>
            <SeverityBadge severity={alert.severity} />
            <StateBadge state={alert.state} />
            {alert.isMuted && <MutedBadge until={alert.mutedUntil} />}
            {alert.maintenance && <MaintenanceBadge window={alert.maintenance} />}
          </span>
        }
        actions={alert.mayAct && <AlertActions alert={alert} />}
      />
      {alert.blocking && <HeldUp blocking={alert.blocking} />}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Facts alert={alert} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="md">
            {meaning && (
              <Panel>
                <Title order={2} mb="xs">
                  Meaning
                </Title>
                <Text size="sm" maw="70ch" style={{ whiteSpace: "pre-line" }}>
                  {meaning}
                </Text>
                {watched && (
                  <Anchor
                    size="sm"
                    mt="xs"
                    display="inline-block"
                    renderRoot={(props) => (
                      <Link {...props} to="/watch-rules/$watchRule" params={{ watchRule: watched.id } as never} />
                    )}
                  >
                    Watch rule: {watched.name}
                  </Anchor>
                )}
              </Panel>
            )}
            {measured && can("metrics:read") && (
              <Suspense fallback={<Skeleton height={320} />}>
                <AlertChart alert={alert} measured={measured} now={now} />
              </Suspense>
            )}
            <Panel>
              <Title order={2} mb="md">
                History
              </Title>
              <NotAvailable missing={alert.unavailable} />
              {alert.timeline && <AlertTimeline moments={alert.timeline} />}
            </Panel>
            <WhoWasTold alert={alert} />
          </Stack>
        </Grid.Col>
      </Grid>
    </article>
  );
}

/** HeldUp is who waited for whom when the alert was raised: what it speaks of, whatever came later. */
function HeldUp({ blocking: { episodeId, tree } }: { blocking: NonNullable<Schemas["AlertDetail"]["blocking"]> }) {
  const { can } = useSession();
  return (
    <Panel mb="md">
      <Group justify="space-between" gap="xs" mb="sm">
        <Title order={2}>Blocking tree</Title>
        <Text size="sm" c="dimmed">
          when it was raised, <Time at={tree.at} exact />
        </Text>
      </Group>
      {tree.sessions.some(({ hidden }) => hidden) && (
        <Text size="sm" c="dimmed" mb="sm" data-hidden>
          Users, applications, clients and statements are hidden for your role.
        </Text>
      )}
      <WaitTree branches={branchesOf(tree)} at={tree.at} />
      <SessionTable tree={tree} />
      {can("metrics:read") && (
        <Anchor
          component={Link}
          to="/blocking/$episodeId"
          params={{ episodeId } as never}
          size="sm"
          mt="xs"
          display="block"
        >
          The whole episode
        </Anchor>
      )}
    </Panel>
  );
}

function Facts({ alert }: { alert: Schemas["AlertDetail"] }) {
  const about = aboutSessions(alert);
  const now = useNow(30_000);
  const { can } = useSession();
  return (
    <Panel>
      <Title order={2} mb="xs">
        Where and when
      </Title>
      <dl style={{ margin: 0 }}>
        <Fact name="Instance">
          {alert.instance ? (
            <ServerLink id={alert.instance.id} name={alert.instance.name} size="sm" />
          ) : (
            "Whole organization"
          )}
        </Fact>
        {alert.database && (
          <Fact name="Database">
            <bdi>{alert.database.name}</bdi>
          </Fact>
        )}
        {alert.rule && <Fact name="Rule">{ruleText(alert.rule)}</Fact>}
        <Fact name="First triggered">
          <Time at={alert.firstTriggeredAt} />
        </Fact>
        <Fact name="Last triggered">
          <Time at={alert.lastTriggeredAt} />
        </Fact>
        {alert.resolvedAt && (
          <Fact name="Resolved">
            <Time at={alert.resolvedAt} />
          </Fact>
        )}
        <Fact name="Duration">{durationText(alert, now)}</Fact>
        <Fact name="Times triggered">{count(alert.occurrences)}</Fact>
      </dl>
      {can("metrics:read") && (
        <Anchor component={Link} to="/" search={aroundOf(alert, now) as never} size="sm" mt="xs" display="inline-block">
          Dashboard at that time
          {alert.instance && (
            <>
              , <bdi>{alert.instance.name}</bdi> only
            </>
          )}
        </Anchor>
      )}
      {can("metrics:read") && about && (
        <Anchor
          component={Link}
          to="/activity"
          search={{ ...aroundOf(alert, now), ...(about === "connections" && { idle: "include" }) } as never}
          size="sm"
          mt="xs"
          display="block"
        >
          What its sessions did at that time
        </Anchor>
      )}
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Group gap="xs" py={6} wrap="nowrap" align="baseline" fz="sm">
      <Text component="dt" size="sm" c="dimmed" w={130} style={{ flex: "none" }}>
        {name}
      </Text>
      <dd className="numbers" style={{ margin: 0, minWidth: 0 }}>
        {children}
      </dd>
    </Group>
  );
}

/** ruleText is a rule with its threshold, where it has one: "Volume nearly full (90 percent)". */
function ruleText({ name, threshold, unit }: Schemas["AlertRule"]): string {
  if (threshold === null) return name;
  return `${name} (threshold ${count(threshold)}${unit ? ` ${unit}` : ""})`;
}
