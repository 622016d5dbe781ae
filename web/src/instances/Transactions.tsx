import { Anchor, Group, Paper, SimpleGrid, Skeleton, Text, Title } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useId } from "react";
import { dimensionNames, personal } from "../activity/query";
import { api } from "../api/client";
import { asProblem } from "../api/problem";
import { useSession } from "../api/session";
import { type Picked, TimeSeriesChart } from "../chart/TimeSeriesChart";
import { notKeptSince } from "../dashboard/contributors";
import { StatementLink } from "../statements/StatementLink";
import { bytes, seconds, shortTime } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { useScope } from "../window/scope";
import { type Answer, heldBy, type Panel, panels, seriesOf, unsaid, wroteFor } from "./transactions";

/** Transactions is what a server tells about long transactions, temporary files, checkpoints and new connections. */
export function Transactions({ instanceId }: { instanceId: string }) {
  const { window } = useScope();
  const { from, to, bucketSize } = window;
  const asked = api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/transactions",
    { params: { path: { instanceId }, query: { from, to, bucketSize } } },
    { placeholderData: keepPreviousData },
  );
  const since = asked.isError ? notKeptSince(asProblem(asked.error).errors) : null;
  return (
    <section aria-label="Transactions and connections">
      <Title order={2} mb="sm">
        Transactions and connections
      </Title>
      {since !== null && (
        <Text size="sm" c="dimmed">
          These figures are kept since {shortTime(since)}.
        </Text>
      )}
      {asked.isError && since === null && !asked.data && <ProblemNote error={asked.error} onRetry={asked.refetch} />}
      {!asked.data && !asked.isError && <Skeleton height={240} />}
      {asked.data && since === null && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          {panels.map((panel) => (
            <One key={panel.title} answer={asked.data} panel={panel} instanceId={instanceId} />
          ))}
        </SimpleGrid>
      )}
    </section>
  );
}

function One({ answer, panel, instanceId }: { answer: Answer; panel: Panel; instanceId: string }) {
  const { window, setCustom, search } = useScope();
  const navigate = useNavigate();
  const heading = useId();
  const seesPeople = useSession().role !== "viewer";
  const by = seesPeople || !personal.includes(panel.by) ? panel.by : "state";
  const sessions = { ...search, instanceId: [instanceId], by, idle: "include" };
  const series = seriesOf(answer, panel);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={heading} miw={0} data-panel={panel.title}>
      <Group justify="space-between" gap="xs" mb="xs">
        <Title order={3} id={heading}>
          {panel.title}
        </Title>
        <Anchor size="sm" renderRoot={(props) => <Link to="/activity" search={sessions as never} {...props} />}>
          Sessions by {dimensionNames[by].one}
        </Anchor>
      </Group>
      {series.length > 0 && (
        <TimeSeriesChart
          title={panel.title}
          group="instance"
          window={window}
          bucketSize={answer.bucketSize}
          bucketStarts={answer.bucketStarts}
          lastBucketPartial={answer.lastBucketPartial}
          generatedAt={answer.generatedAt}
          series={series}
          format={panel.format}
          height={140}
          onZoom={setCustom}
          onPick={({ from, to }: Picked) =>
            navigate({ to: "/activity", search: { ...sessions, pickedFrom: from, pickedTo: to } as never })
          }
        />
      )}
      {unsaid(answer, panel).map((sentence) => (
        <Text key={sentence} size="sm" c="dimmed">
          {sentence}
        </Text>
      ))}
      <Beside answer={answer} panel={panel} instanceId={instanceId} />
    </Paper>
  );
}

/** Beside is what a panel says below its chart: whose the oldest transaction was, what wrote most, how long checkpoints took. */
function Beside({ answer, panel, instanceId }: { answer: Answer; panel: Panel; instanceId: string }) {
  const { search } = useScope();
  if (panel.title === "Checkpoints") {
    const wrote = wroteFor(answer);
    return wrote && <Text size="sm">{wrote}</Text>;
  }
  if (panel.title === "Temporary files") {
    const most = answer.databases[0];
    return (
      most && <Text size="sm">{`Most by database ${most.database.name}: ${bytes(most.average)} per second.`}</Text>
    );
  }
  const greatest = answer.figures.find(({ figure }) => figure === panel.figures[0]?.figure)?.greatest;
  if (!greatest?.holder) return null;
  const { statement } = greatest.holder;
  return (
    <Text size="sm" data-holder component="div">
      {`Longest: ${seconds(greatest.value)} at ${shortTime(greatest.at)}, ${heldBy(greatest.holder)}. `}
      <Anchor
        size="sm"
        underline="always"
        renderRoot={(props) => (
          <Link to="/blocking" search={{ ...search, instanceId: [instanceId] } as never} {...props} />
        )}
      >
        Blocked sessions
      </Anchor>
      {statement && (
        <>
          {" · "}
          <StatementLink statement={statement} list={{ instanceId: [instanceId] }} />
        </>
      )}
    </Text>
  );
}
