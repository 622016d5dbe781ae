import { Anchor, Button, Paper, Skeleton, Text } from "@mantine/core";
import { IconActivity, IconClock, IconFilterOff, IconX } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { api } from "../api/client";
import { asProblem } from "../api/problem";
import { useSession } from "../api/session";
import { ChangesOnCharts } from "../changes/ChangesOnCharts";
import { useAfterFirst } from "../chart/first";
import { notKeptSince } from "../dashboard/contributors";
import { useLast } from "../dashboard/last";
import { NotRead } from "../dashboard/NoValues";
import { spanText } from "../dashboard/units";
import { bucketSizeFor } from "../statements/query";
import { EmptyState } from "../ui/EmptyState";
import { measuredEngines, plural, shortTime } from "../ui/format";
import { NotAvailable } from "../ui/NotAvailable";
import { PageTitle } from "../ui/PageTitle";
import { ProblemNote } from "../ui/ProblemNote";
import { dimensions } from "../url/schemas";
import { useAnchor, useScope } from "../window/scope";
import { ActivityChart, Choices, Hosts } from "./ActivityChart";
import classes from "./activity.module.css";
import { Beside } from "./Beside";
import { Blocked } from "./Blocked";
import { Narrowed } from "./Narrowed";
import {
  type ActivitySearch,
  type Answer,
  activityQuery,
  beside,
  charted,
  comparedWith,
  type Dimension,
  dimensionNames,
  little,
  mostly,
  type Narrowing,
  offered,
  onlyOf,
  personal,
  pickedOf,
  tabled,
} from "./query";
import { Top } from "./Top";

const icon = <IconActivity size={32} aria-hidden />;

/** ActivityPage is what sessions did in the window: how many were active, by whom, with what, and what they waited for. */
export function ActivityPage() {
  const search = useSearch({ from: "/activity" }) as ActivitySearch;
  const navigate = useNavigate();
  const change = useCallback(
    (next: Partial<ActivitySearch>, replace = false) =>
      navigate({
        to: ".",
        search: ((previous: ActivitySearch) => ({ ...previous, ...next })) as never,
        replace,
        resetScroll: false,
      }),
    [navigate],
  );
  const { window, servers, matchesNothing, setServers } = useScope();
  const { at } = useAnchor();
  const { role, organization } = useSession();
  const seesPeople = role !== "viewer";
  const keepsPeople = organization.sessionDetail === "on";
  const choices = offered(dimensions, seesPeople);
  const tabs = offered(tabled, seesPeople);
  const by = choices.find((dimension) => dimension === search.by) ?? "waitClass";
  const top = tabs.find((dimension) => dimension === search.top) ?? "statement";
  const hasNone = (dimension: Dimension) => personal.includes(dimension) && !keepsPeople;
  const idle = search.idle === "include";
  const only = onlyOf(search, seesPeople);
  const narrow = (to: Narrowing, value: string) =>
    change({ [to]: [...new Set([...(search[to] ?? []), value])] } as Partial<ActivitySearch>);
  const widen = (from: Narrowing, value: string) => {
    const left: string[] = (search[from] ?? []).filter((one: string) => one !== value);
    change({ [from]: left.length > 0 ? left : undefined } as Partial<ActivitySearch>);
  };
  const asking = { from: window.from, to: window.to, bucketSize: bucketSizeFor(window, at) };
  const asked = api.useQuery(
    "get",
    "/api/v1/activity",
    { params: { query: activityQuery(by, asking, { servers, only, idle, limit: charted }) } },
    { enabled: !matchesNothing && !hasNone(by) },
  );
  const last = useLast(asked.data, { ...servers, ...only });
  const since = asked.isError ? notKeptSince(asProblem(asked.error).errors) : null;
  const data = last?.by === by && since === null ? last : undefined;
  const picked = pickedOf(search);
  const [covered, cover] = useState(false);
  const afterFirst = useAfterFirst();
  const tables = {
    asking: picked ? { ...picked, bucketSize: asking.bucketSize } : asking,
    idle,
    picked,
    whole: picked && asking,
    only,
    onNarrow: narrow,
  };
  // Where nothing was active in the window there is nothing to tell apart.
  const something = hasNone(by) || (data !== undefined && (data.average ?? 0) > 0);
  const withIdle = (on: boolean) => change({ idle: on ? "include" : undefined }, true);
  return (
    <>
      <PageTitle title="Activity" lead={<Lead answer={matchesNothing ? undefined : data} idle={idle} />} />
      {data && <NotAvailable missing={data.unavailable} />}
      <Narrowed only={only} onRemove={widen} />
      <Paper
        withBorder
        p="md"
        mb="md"
        pos="relative"
        component="section"
        aria-label="Average active sessions"
        aria-busy={asked.isFetching}
      >
        <Choices
          by={by}
          choices={choices}
          idle={idle}
          onBy={(next) => change({ by: next === "waitClass" ? undefined : next }, true)}
          onIdle={withIdle}
        />
        {asked.isError && since === null && (
          <ProblemNote
            error={asked.error}
            title={data ? "Not up to date" : "Activity could not be loaded"}
            onRetry={asked.refetch}
          />
        )}
        {matchesNothing ? (
          <EmptyState
            icon={<IconFilterOff size={32} aria-hidden />}
            title="No server matches this filter"
            action={
              <Button size="xs" variant="default" mt="xs" onClick={() => setServers({})}>
                Show all servers
              </Button>
            }
          />
        ) : hasNone(by) ? (
          <NoPeople by={by} />
        ) : since !== null ? (
          <EmptyState icon={icon} title="Not kept for this window">
            Session activity is kept since {shortTime(since)}.
          </EmptyState>
        ) : !data ? (
          !asked.isError && <Skeleton height={320} role="status" aria-label="Loading activity" />
        ) : data.average === null ? (
          data.incomplete ? (
            <NotRead />
          ) : (
            <EmptyState icon={icon} title="No sessions were sampled in this window">
              How many sessions were active is not known for this time and these servers.
            </EmptyState>
          )
        ) : data.average === 0 ? (
          <EmptyState
            icon={icon}
            title={idle ? "No session was open in this window" : "No session was active in this window"}
            action={
              !idle && (
                <Button size="xs" variant="default" mt="xs" onClick={() => withIdle(true)}>
                  Show idle sessions
                </Button>
              )
            }
          >
            Sessions were sampled on {measuredEngines(data)}
            {idle ? ", and there were none." : ": all of them were idle, or there were none."}
          </EmptyState>
        ) : (
          <ChangesOnCharts from={window.from} to={window.to} servers={servers}>
            <ActivityChart
              answer={data}
              asking={asked.data ? asking : data}
              picked={picked}
              idle={idle}
              covered={covered}
              onPick={(from, to) => change({ pickedFrom: from, pickedTo: to })}
              onZoom={(from, to) => change({ range: undefined, from, to, pickedFrom: undefined, pickedTo: undefined })}
            />
          </ChangesOnCharts>
        )}
      </Paper>
      {afterFirst && data && data.cores !== null && <Hosts counted={data.coreHosts} tell={cover} />}
      {afterFirst && something && !matchesNothing && since === null && (
        <>
          <Then
            answer={data}
            picked={picked}
            idle={idle}
            covered={covered}
            onClear={() => change({ pickedFrom: undefined, pickedTo: undefined })}
          />
          <div className={classes.below}>
            <div className={classes.column}>
              <Top
                by={top}
                tabs={tabs}
                empty={hasNone(top) ? <NoPeople by={top} /> : null}
                colors={data?.by === top ? data : null}
                onBy={(next) =>
                  change({ top: next === "statement" ? undefined : (next as ActivitySearch["top"]) }, true)
                }
                {...tables}
              />
              <Blocked span={tables.asking} />
            </div>
            <Beside
              dimensions={offered(beside, seesPeople).filter((d) => d !== top && !hasNone(d))}
              peopleOff={seesPeople && !keepsPeople}
              charted={by}
              onBy={(next) => change({ by: next === "waitClass" ? undefined : next }, true)}
              {...tables}
            />
          </div>
        </>
      )}
    </>
  );
}

function Lead({ answer, idle }: { answer: Answer | undefined; idle: boolean }) {
  const engines = answer && measuredEngines(answer);
  return (
    <>
      How many sessions were on the CPU or waited, on average{engines && <>, on {engines}</>}.{" "}
      {idle
        ? "Idle sessions are included: an idle session waits for its client, so that the waits here are those of the dashboard."
        : "Idle sessions are left out."}
      {answer?.incomplete && (
        <Text span inherit fw={600} c="var(--mantine-color-error)" role="alert">
          {" "}
          Incomplete: a database engine could not be read, and its sessions are missing here.
        </Text>
      )}
    </>
  );
}

/** NoPeople says that the organization does not keep whose sessions they are, and who can have it otherwise. */
export function NoPeople({ by }: { by: Dimension }) {
  const { can } = useSession();
  const { many } = dimensionNames[by];
  return (
    <EmptyState
      icon={icon}
      title={`The ${many} of sessions are not kept`}
      action={
        can("admin") && (
          <Anchor component={Link} to="/settings/organization" size="sm">
            Change this in Settings
          </Anchor>
        )
      }
    >
      {can("admin")
        ? "The organization keeps no users, applications and clients."
        : "The organization keeps no users, applications and clients. An administrator can have them kept."}
    </EmptyState>
  );
}

type ThenProps = {
  /** The chart's; undefined where there is none. */
  answer: Answer | undefined;
  picked: { from: string; to: string } | null;
  idle: boolean;
  /** Whether the cores are those of all hosts in scope. */
  covered: boolean;
  onClear: () => void;
};

/** Then is the time that the tables are about, and how active it was. */
function Then({ answer, picked, idle, covered, onClear }: ThenProps) {
  if (!picked) {
    return (
      <Text size="sm" c="dimmed" className={classes.then}>
        Select a bucket in the chart to see what happened then. Drag over the chart to zoom in.
      </Text>
    );
  }
  const at = answer?.bucketStarts.findIndex((start) => Date.parse(start) === Date.parse(picked.from)) ?? -1;
  const values = answer ? Object.values(answer.series).map((of) => of[at] ?? null) : [];
  const known = values.some((value) => value !== null);
  const total = values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const compared = answer && known ? comparedWith(total, answer.average) : null;
  return (
    <div className={classes.then} role="status" data-picked>
      <Button
        size="compact-md"
        radius="xl"
        variant="light"
        leftSection={<IconClock size={14} aria-hidden />}
        rightSection={<IconX size={14} aria-hidden />}
        aria-label={`${spanText(picked)}: back to the whole window`}
        onClick={onClear}
      >
        {spanText(picked)}
      </Button>
      {known && answer && (
        <Text size="sm" span>
          <b>
            {little(total)} {!idle && "active "}sessions
          </b>
          {answer.cores !== null && covered && <> on {plural(answer.cores, "core")}</>}
          {compared && <>, {compared}</>}. {mostly(answer, picked.from)}
        </Text>
      )}
    </div>
  );
}
