import { Anchor, Grid, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconLock, IconLockOpen } from "@tabler/icons-react";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { StateBadge } from "../alerts/badges";
import { api, type Schemas } from "../api/client";
import { serverNow } from "../api/clock";
import { usePolling } from "../api/polling";
import { asProblem, Problem } from "../api/problem";
import { useSession } from "../api/session";
import { ChangesOnCharts } from "../changes/ChangesOnCharts";
import { ServerLink } from "../instances/ServerLink";
import { EmptyState } from "../ui/EmptyState";
import { duration, plural } from "../ui/format";
import { Mark } from "../ui/Mark";
import { useNow } from "../ui/now";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Snippet } from "../ui/Snippet";
import { Time } from "../ui/Time";
import { Trail } from "../ui/Trail";
import { useScope } from "../window/scope";
import {
  branchesOf,
  called,
  capital,
  type Episode,
  endOf,
  remediesOf,
  shownAt,
  spanOf,
  stateOf,
  titleOf,
  whyOf,
} from "./episode";
import { SessionTable } from "./SessionTable";
import { Timeline } from "./Timeline";
import { WaitTree } from "./WaitTree";

type Detail = Schemas["BlockingDetail"];

/** EpisodePage is who held whom up: in a sentence, over time, as a tree, and what ends it. */
export function EpisodePage() {
  const { episodeId = "" } = useParams({ strict: false });
  const asked = api.useQuery(
    "get",
    "/api/v1/blocking/{episodeId}",
    { params: { path: { episodeId } } },
    usePolling<Detail>(({ episode }) => (episode.to === null ? 10_000 : false)),
  );
  if (asked.data) {
    return (
      <>
        {asked.error && <ProblemNote error={asked.error} title="Not up to date" onRetry={asked.refetch} />}
        <Shown detail={asked.data} busy={asked.isFetching} />
      </>
    );
  }
  if (!asked.error) return <Loading />;
  // 400 is an address whose id is none.
  const unknown =
    (asked.error as unknown) instanceof Problem && [400, 404].includes(asProblem(asked.error).status ?? 0);
  return (
    <>
      <Back />
      <PageTitle title="Blocking" />
      {unknown ? (
        <Panel>
          <EmptyState
            icon={<IconLockOpen size={32} aria-hidden />}
            title="This episode is not known, or belongs to another organization"
          >
            Muster keeps episodes for 400 days.
          </EmptyState>
        </Panel>
      ) : (
        <ProblemNote error={asked.error} title="The episode could not be loaded" onRetry={asked.refetch} />
      )}
    </>
  );
}

function Back({ children }: { children?: ReactNode }) {
  const { search } = useScope();
  return (
    <Trail to="/blocking" name="Blocking" search={search}>
      {children ?? "Episode"}
    </Trail>
  );
}

function Loading() {
  return (
    <div role="status" aria-label="Loading the episode">
      <Skeleton height={20} width={160} mb="xs" />
      <Skeleton height={32} maw={420} mb="lg" />
      <Skeleton height={220} mb="md" />
      <Skeleton height={280} />
    </div>
  );
}

function Shown({ detail, busy }: { detail: Detail; busy: boolean }) {
  const { episode: e, samples } = detail;
  const { at } = useSearch({ strict: false }) as { at?: string };
  const navigate = useNavigate();
  const chosen = shownAt(samples, at);
  const sample = samples[chosen];
  const apart = api.useQuery(
    "get",
    "/api/v1/blocking/{episodeId}",
    { params: { path: { episodeId: e.id }, query: { at: sample?.at } } },
    { enabled: sample?.treeKept === true && sample.tree === null },
  );
  const earlier = samples.slice(0, chosen + 1).findLast(({ tree }) => tree !== null)?.tree;
  const tree = sample?.tree ?? apart.data?.tree ?? earlier ?? detail.tree;
  const choose = (n: number) =>
    navigate({
      to: ".",
      replace: true,
      resetScroll: false,
      search: ((before: object) => ({ ...before, at: n === samples.length - 1 ? undefined : samples[n]?.at })) as never,
    });
  const branches = tree ? branchesOf(tree) : [];
  return (
    <article aria-busy={busy}>
      <Back>{titleOf(e)}</Back>
      <PageTitle title={titleOf(e)} beside={<Standing episode={e} />} lead={<Lead episode={e} />} />
      <Stack gap="md">
        <Panel>
          <Sentence episode={e} at={samples.at(-1)?.at ?? e.peakAt} />
          <Changed episode={e}>
            <Timeline episode={e} samples={samples} chosen={chosen} onChoose={choose} />
          </Changed>
        </Panel>
        {tree ? (
          <Panel>
            <Group justify="space-between" gap="xs" mb="sm">
              <Title order={2}>Blocking tree</Title>
              <Text size="sm" c="dimmed">
                as at <Time at={tree.at} exact />
                {samples.length > 1 &&
                  `, sample ${chosen + 1} of ${samples.length}. Move the line in the chart for another one.`}
              </Text>
            </Group>
            <Hidden episode={e} />
            <WaitTree branches={branches} at={tree.at} />
            <SessionTable tree={tree} />
          </Panel>
        ) : (
          <NoTree episode={e} />
        )}
        <Grid gap="md">
          <Grid.Col span={{ base: 12, md: 8 }}>
            <WhatToDo episode={e} branch={branches[0]} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 4 }}>
            <AlertsOfIt episode={e} />
          </Grid.Col>
        </Grid>
      </Stack>
    </article>
  );
}

/** Changed puts what changed on the server on the episode's timeline. Of one that goes on, by the minute. */
function Changed({ episode: e, children }: { episode: Episode; children: ReactNode }) {
  const now = useNow(60_000);
  const minute = Math.floor(now.getTime() / 60_000) * 60_000;
  const { from, to } = spanOf(e, e.to === null ? minute : Date.parse(e.to));
  return (
    <ChangesOnCharts
      from={new Date(from).toISOString()}
      to={new Date(to).toISOString()}
      servers={{ instanceId: [e.instance.id] }}
    >
      {children}
    </ChangesOnCharts>
  );
}

function Standing({ episode: e }: { episode: Episode }) {
  const now = useNow(10_000);
  const icon = <IconLock size={16} aria-hidden />;
  if (e.to !== null) {
    return (
      <Mark tone="quiet" icon={<IconLockOpen size={16} aria-hidden />}>
        over after {duration(Date.parse(e.to) - Date.parse(e.from))}
      </Mark>
    );
  }
  return (
    <Mark tone="bad" icon={icon}>
      going on, {duration(now.getTime() - Date.parse(e.from))}
    </Mark>
  );
}

function Lead({ episode: e }: { episode: Episode }) {
  return (
    <>
      {e.instance.removed ? (
        <bdi>{e.instance.name} (removed)</bdi>
      ) : (
        <ServerLink id={e.instance.id} name={e.instance.name} inherit underline="always" />
      )}
      {e.database !== null && (
        <>
          {" · database "}
          <bdi>{e.database}</bdi>
        </>
      )}
      {" · since "}
      <Time at={e.from} exact />
      {` · ${duration(1000 * e.blockedSeconds)} of waiting, all sessions together`}
    </>
  );
}

/** Sentence is the cause, and how the wait ended. */
function Sentence({ episode: e, at }: { episode: Episode; at: string }) {
  const end = endOf(e);
  const lasts = e.to === null;
  const state = e.cycle.length > 0 ? null : stateOf(e.root, lasts ? at : e.peakAt);
  return (
    <Text mb="sm" data-sentence>
      {e.cycle.length === 0 && (
        <>
          <b>
            <bdi>{capitalOf(e)}</bdi>
          </b>
          {state && (lasts ? ` is ${state}` : ` was ${state} when most sessions waited`)}
          {": "}
          {plural(e.behind, "session")} {!lasts ? "waited" : e.behind === 1 ? "waits" : "wait"} behind it.{" "}
        </>
      )}
      {whyOf(e.root, e.cycle.length > 0)}
      {e.roots > 1 && ` ${plural(e.roots - 1, "other root")} held up sessions at the same time.`}
      {end && (
        <>
          {" "}
          {e.to && (
            <>
              Ended <Time at={e.to} exact />.{" "}
            </>
          )}
          {end}
        </>
      )}
    </Text>
  );
}

const capitalOf = ({ root }: Episode) => ((root.application ?? root.user) ? called(root) : capital(called(root)));

/** Hidden says why a viewer sees no names: they are there, and not for them. */
function Hidden({ episode: e }: { episode: Episode }) {
  if (!e.root.hidden) return null;
  return (
    <Text size="sm" c="dimmed" mb="sm" data-hidden>
      Users, applications, clients and statements are hidden for your role.
    </Text>
  );
}

function NoTree({ episode: e }: { episode: Episode }) {
  return (
    <Panel>
      <Title order={2} mb="xs">
        Blocking tree
      </Title>
      <Hidden episode={e} />
      <EmptyState title="The samples of this episode are not kept any more">
        Muster keeps samples for 72 hours. The root and the figures above are kept for 400 days.
      </EmptyState>
    </Panel>
  );
}

function WhatToDo({
  episode: e,
  branch,
}: {
  episode: Episode;
  branch: ReturnType<typeof branchesOf>[number] | undefined;
}) {
  const remedies = branch ? remediesOf(e.instance.engine, branch) : [];
  const over = e.to !== null;
  const shown = over ? remedies.filter(({ sql }) => sql === undefined) : remedies;
  return (
    <Panel>
      <Title order={2} mb={4}>
        Next steps
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {over
          ? "It is over. There is nothing to run."
          : "Muster only reads. Run a statement yourself, with the rights for it. It does nothing if the session has ended."}
      </Text>
      <Stack gap="md" component="ol" style={{ listStyle: "none", margin: 0, padding: 0 }}>
        {shown.map((r, n) => (
          <li key={r.title} data-remedy>
            <Text size="sm">
              <b>
                {n + 1}. {r.title}
              </b>{" "}
              {r.says}
            </Text>
            {r.sql && <Snippet label="Statement" text={r.sql} wrapped />}
          </li>
        ))}
      </Stack>
      {!over && branch?.cycle && (
        <Text size="sm">
          The server resolves the deadlock by itself. Have the transactions take their locks in one order to prevent it.
        </Text>
      )}
    </Panel>
  );
}

const listed = 5;

/** AlertsOfIt are the alerts of its server that fired in its time. */
function AlertsOfIt({ episode: e }: { episode: Episode }) {
  const may = useSession().can("alerts:read");
  const asked = api.useQuery(
    "get",
    "/api/v1/alerts",
    {
      params: {
        query: {
          instanceId: [e.instance.id],
          status: "all",
          sort: "-lastTriggeredAt",
          pageSize: listed,
          from: e.from,
          // An alert is raised some minutes after the wait began, and lasts for one more judgment.
          to:
            e.to === null
              ? undefined
              : new Date(Math.min(Date.parse(e.to) + 60_000, serverNow().getTime())).toISOString(),
        },
      },
    },
    { enabled: may },
  );
  if (!may) return null;
  return (
    <Panel>
      <Title order={2} mb="sm">
        Alerts of this time
      </Title>
      {asked.isError && (
        <ProblemNote error={asked.error} title="Alerts could not be loaded" onRetry={() => asked.refetch()} />
      )}
      {!asked.data && !asked.isError && <Skeleton h={14} w="60%" />}
      {asked.data?.items.length === 0 && (
        <Text size="sm" c="dimmed">
          No alert of this server fired in this time.
        </Text>
      )}
      <Stack gap="xs">
        {asked.data?.items.map((alert) => (
          <div key={alert.id}>
            <Anchor component={Link} to="/alerts/$alertId" params={{ alertId: alert.id } as never} size="sm">
              {alert.title}
            </Anchor>
            <Group gap="xs">
              <StateBadge state={alert.state} />
              <Text size="xs" c="dimmed" component="span">
                <Time at={alert.firstTriggeredAt} exact />
              </Text>
            </Group>
          </div>
        ))}
      </Stack>
    </Panel>
  );
}
