import { Anchor, Badge, Group, Paper, SimpleGrid, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconFileCode } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useParams, useRouterState } from "@tanstack/react-router";
import { Fragment, type ReactNode, useMemo } from "react";
import { api, type Schemas } from "../api/client";
import { asProblem, Problem } from "../api/problem";
import { ChangesOnCharts } from "../changes/ChangesOnCharts";
import { seriesColors } from "../chart/palette";
import { type ChartSeries, TimeSeriesChart } from "../chart/TimeSeriesChart";
import { notKeptSince } from "../dashboard/contributors";
import { latency, percent, sessions } from "../dashboard/units";
import { engineName } from "../engines";
import { ServerLink } from "../instances/ServerLink";
import { EmptyState } from "../ui/EmptyState";
import { count, shortTime } from "../ui/format";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Snippet } from "../ui/Snippet";
import { Time } from "../ui/Time";
import { Trail } from "../ui/Trail";
import { useAnchor, useScope } from "../window/scope";
import { Changed } from "./Changed";
import { milliseconds } from "./figures";
import { bucketSizeFor, type Statement, serverKey, shortId, slowest, unknownBefore } from "./query";
import classes from "./statements.module.css";
import { NoTexts } from "./Texts";

type Detail = Schemas["StatementDetail"];

/** StatementPage is one statement: its text, where it is run, what it costs now and before, bucket by bucket. */
export function StatementPage() {
  const { statementId = "" } = useParams({ strict: false });
  const { window } = useScope();
  const { at } = useAnchor();
  const bucketSize = bucketSizeFor(window, at);
  const asked = api.useQuery(
    "get",
    "/api/v1/statements/{statementId}",
    { params: { path: { statementId }, query: { from: window.from, to: window.to, bucketSize } } },
    { placeholderData: keepPreviousData },
  );
  const since = asked.isError ? notKeptSince(asProblem(asked.error).errors) : null;
  const data = asked.data?.statement.id === statementId && since === null ? asked.data : undefined;
  // 400 is an address whose id is none.
  const unknown =
    (asked.error as unknown) instanceof Problem && [400, 404].includes(asProblem(asked.error).status ?? 0);
  if (data && !unknown) {
    return (
      <>
        {asked.error && <ProblemNote error={asked.error} title="Not up to date" onRetry={asked.refetch} />}
        <Shown detail={data} busy={asked.isFetching} />
      </>
    );
  }
  if (!asked.error) return <Loading />;
  return (
    <>
      <Back />
      <PageTitle title="Statement" />
      {unknown ? (
        <Panel>
          <EmptyState
            icon={<IconFileCode size={32} aria-hidden />}
            title="This statement is not known, or belongs to another organization"
          >
            A statement is known for 400 days after it was last executed.
          </EmptyState>
        </Panel>
      ) : since !== null ? (
        <Panel>
          <EmptyState icon={<IconFileCode size={32} aria-hidden />} title="Not kept for this window">
            Single statements are kept since {shortTime(since)}.
          </EmptyState>
        </Panel>
      ) : (
        <ProblemNote error={asked.error} title="The statement could not be loaded" onRetry={asked.refetch} />
      )}
    </>
  );
}

function Back({ children }: { children?: ReactNode }) {
  const list = useRouterState({ select: (s) => s.location.state.statements });
  const { search } = useScope();
  return (
    <Trail to="/statements" name="Statements" search={{ ...list, ...search }}>
      {children ?? "Statement"}
    </Trail>
  );
}

function Loading() {
  return (
    <div role="status" aria-label="Loading the statement">
      <Skeleton height={20} width={160} mb="xs" />
      <Skeleton height={32} maw={420} mb="lg" />
      <Skeleton height={320} />
    </div>
  );
}

function Shown({ detail, busy }: { detail: Detail; busy: boolean }) {
  const { statement: s } = detail;
  return (
    <article aria-busy={busy}>
      <Back>{shortId(s.id)}</Back>
      <PageTitle title={shortId(s.id)} lead={<Lead statement={s} />} />
      <Stack gap="md">
        {s.text ? (
          <Panel className={classes.whole}>
            <Snippet label="Text, without values and comments" text={s.text} wrapped />
          </Panel>
        ) : (
          <Missing />
        )}
        <Figures detail={detail} />
        <ChangesOnCharts from={detail.from} to={detail.to} servers={{ instanceId: [s.instance.id] }}>
          <Charts detail={detail} />
        </ChangesOnCharts>
        <Origin statement={s} />
      </Stack>
    </article>
  );
}

/** Missing says why this statement has no text. */
function Missing() {
  return (
    <Panel>
      <Text size="sm" fw={500} mb={4}>
        No text is kept of this statement
      </Text>
      <NoTexts />
      <Text size="sm" c="dimmed">
        Where texts are kept, one comes when the statement is executed again.
      </Text>
    </Panel>
  );
}

function Lead({ statement: s }: { statement: Statement }) {
  return (
    <Group gap={8} component="span" mt={4}>
      <span style={{ overflowWrap: "anywhere" }}>
        <bdi>{s.instance.name}</bdi> · <bdi>{s.database.name}</bdi> · {engineName(s.instance.engine)}
      </span>
      {s.instance.removed && (
        <Badge component="span" size="sm" radius="sm" variant="default">
          Removed
        </Badge>
      )}
      <Changed statement={s} whole />
    </Group>
  );
}

/** Figures is what it cost in the window, beside the one before. */
function Figures({ detail: { statement: s, from, to, previousFrom } }: { detail: Detail }) {
  const whole = (n: number) => count(Math.round(n));
  const since = previousFrom === null ? null : unknownBefore(s, previousFrom);
  const figures: [string, string, string | null | undefined][] = [
    ["Time", latency(s.totalMs), s.previous && latency(s.previous.totalMs)],
    ["Calls", whole(s.calls), s.previous && whole(s.previous.calls)],
    ["Mean", s.meanMs === null ? "–" : latency(s.meanMs), s.previous && latency(s.previous.meanMs)],
    ["Slowest", milliseconds(slowest(s)), undefined],
    ["Share of the time", s.share === null ? "–" : percent(100 * s.share), undefined],
  ];
  return (
    <Paper withBorder p="md" component="section" aria-label="In this window">
      <Title order={2} mb={4}>
        In this window
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {shortTime(from)} to {shortTime(to)}
        {previousFrom === null
          ? ". The window before is not kept."
          : s.previous
            ? `, and before: from ${shortTime(previousFrom)}`
            : since !== null
              ? `. Not known for the window before: watched since ${shortTime(since)}.`
              : `. It was not executed in the window before, from ${shortTime(previousFrom)}.`}
      </Text>
      <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="sm">
        {figures.map(([name, value, before]) => (
          <div key={name} data-figure={name}>
            <Text size="xs" c="dimmed">
              {name}
            </Text>
            <Text fz="lg" fw={650} className="numbers">
              {value}
            </Text>
            {before && <span className={classes.before}>before {before}</span>}
          </div>
        ))}
      </SimpleGrid>
    </Paper>
  );
}

const series = (key: string, label: string, color: string, values: ChartSeries["values"]): ChartSeries => ({
  key,
  label,
  color,
  values,
});

/** Charts are bucket by bucket, on one cursor; a drag chooses the window. */
function Charts({ detail }: { detail: Detail }) {
  const { setCustom } = useScope();
  const { from, to, bucketSize, bucketStarts, lastBucketPartial, generatedAt } = detail;
  const { totalMs, calls, meanMs, maxMs } = detail.series;
  const drawn = useMemo(
    () => [
      { title: "Time", series: [series("totalMs", "Time", seriesColors.blue, totalMs)], format: latency },
      { title: "Calls", series: [series("calls", "Calls", seriesColors.purple, calls)], format: sessions },
      {
        title: "Latency",
        series: [
          series("meanMs", "Mean", seriesColors.teal, meanMs),
          series("maxMs", "Slowest", seriesColors.orange, maxMs),
        ],
        format: latency,
      },
    ],
    [totalMs, calls, meanMs, maxMs],
  );
  if (![...totalMs, ...calls].some((value) => value !== null)) {
    return (
      <Panel>
        <EmptyState title="No data in this window">Its database was not sampled in this time.</EmptyState>
      </Panel>
    );
  }
  return (
    <>
      <div className={classes.charts}>
        {drawn.map(({ title, ...chart }) => (
          <Paper withBorder p="md" component="section" key={title} aria-label={title}>
            <Title order={2} size="h3" mb={4}>
              {title}
            </Title>
            <TimeSeriesChart
              {...chart}
              title={title}
              group="statement"
              window={{ from, to }}
              bucketSize={bucketSize}
              bucketStarts={bucketStarts}
              lastBucketPartial={lastBucketPartial}
              generatedAt={generatedAt}
              onZoom={setCustom}
              height={180}
            />
          </Paper>
        ))}
      </div>
      <Text size="xs" c="dimmed">
        A reading covers about a minute and counts where it ends: an execution can stand up to a minute late.
      </Text>
    </>
  );
}

/** Origin is where it is run from, since when it is known, and where to look next. */
function Origin({ statement: s }: { statement: Statement }) {
  const { search } = useScope();
  const here = { ...search, instanceId: [s.instance.id] };
  const facts: [string, ReactNode][] = [
    [
      "Instance",
      s.instance.removed ? (
        `${s.instance.name} (removed)`
      ) : (
        <ServerLink key="instance" id={s.instance.id} name={s.instance.name} size="sm" />
      ),
    ],
    ["Database", <bdi key="database">{s.database.name}</bdi>],
    [
      "First seen",
      s.firstSeenAt ? (
        <Fragment key="first">
          <Time at={s.firstSeenAt} />
          {s.ranBefore && ", executed before that"}
        </Fragment>
      ) : (
        "Before this was noted"
      ),
    ],
    [
      "Last seen",
      s.lastSeenAt ? (
        <Fragment key="last">
          <Time at={s.lastSeenAt} relative /> or later, noted once an hour and by the buckets above
        </Fragment>
      ) : (
        "Before this was noted"
      ),
    ],
  ];
  return (
    <Paper withBorder p="md" component="section" aria-label="Servers that run it">
      <Title order={2} mb="xs">
        Servers that run it
      </Title>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm" mb="sm">
        {facts.map(([name, value]) => (
          <div key={name} style={{ overflowWrap: "anywhere" }}>
            <Text size="xs" c="dimmed">
              {name}
            </Text>
            <Text size="sm" component="div">
              {value}
            </Text>
          </div>
        ))}
      </SimpleGrid>
      {s.key && <Key value={s.key} name={s.role} />}
      {!s.instance.removed && (
        <Group gap="md">
          <Anchor component={Link} to="/" search={here as never} size="sm">
            Dashboard of this instance
          </Anchor>
          <Anchor component={Link} to="/statements" search={here as never} size="sm">
            All statements of this instance
          </Anchor>
        </Group>
      )}
    </Paper>
  );
}

/** Key is what its server knows it by, to take there. */
function Key({ value, name }: { value: string; name: string | null }) {
  const parts = serverKey(value);
  if (!parts) return <Snippet label="ID on the server" text={value} wrapped />;
  return (
    <>
      <Snippet label="queryid" text={parts.queryId} />
      {name && <Snippet label="Role" text={name} />}
      <Text size="xs" c="dimmed" mt={4} mb="sm">
        Executed by the role with the OID {parts.role}
        {parts.nested && ", from within another statement"}.{" "}
        {!name && (
          <>
            Its name: <code>SELECT {parts.role}::regrole</code>
          </>
        )}
      </Text>
    </>
  );
}
