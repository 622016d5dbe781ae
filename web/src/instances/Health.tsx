import { Anchor, Group, Progress, SimpleGrid, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { palette } from "../chart/palette";
import { TimeSeriesChart } from "../chart/TimeSeriesChart";
import { EmptyState } from "../ui/EmptyState";
import { count, plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import type { Instance } from "./standing";

type InstanceHealth = Schemas["InstanceHealth"];

/** How long a score may take to follow its assessment before nobody waits for it any more. Milliseconds. */
const patience = 60_000;
const whileFollowing = 1_000;

/** lags says that a score is of an assessment before the last one, which was a moment ago. */
export const lags = (assessedAt: string | null, lastAssessedAt: string | null, now: number) =>
  lastAssessedAt !== null &&
  (assessedAt === null || Date.parse(assessedAt) < Date.parse(lastAssessedAt)) &&
  now - Date.parse(lastAssessedAt) < patience;

/** useHealth reads an instance's health, and again until it is that of the last assessment. */
export function useHealth(i: Instance) {
  const polling = usePolling<InstanceHealth>((h) => lags(h.assessedAt, i.lastAssessedAt, Date.now()) && whileFollowing);
  return api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/health",
    { params: { path: { instanceId: i.id } } },
    polling,
  );
}

/** Score is the score of an instance, and how it came to be. */
export function Score({ instance }: { instance: Instance }) {
  const { data, error, refetch } = useHealth(instance);
  if (error && !data)
    return <ProblemNote error={error} title="The health of the server could not be loaded" onRetry={refetch} />;
  if (!data) return <Skeleton height={220} />;
  return <ScorePanel health={data} instance={instance} />;
}

function ScorePanel({ health: h, instance }: { health: InstanceHealth; instance: Instance }) {
  return (
    <Panel>
      <Title order={2} mb="sm">
        Score
      </Title>
      {h.assessedAt === null && (
        <EmptyState title="No score yet">
          {instance.collected || instance.agent
            ? "It shows here after the first assessment."
            : "Not assessed: its data comes from a feed, which has not sent an assessment."}
        </EmptyState>
      )}
      {h.assessedAt !== null && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <div>
            <Group gap="sm" align="baseline" mb="xs">
              <Text fz={36} fw={700} lh={1} span className="numbers" data-score>
                {h.score ?? "–"}
              </Text>
              <Text span>{h.grade ? `of 100, grade ${h.grade}` : "No check has an answer."}</Text>
            </Group>
            <Text size="xs" c="dimmed" mb="sm">
              By the assessment of <Time at={h.assessedAt} relative />, with the exceptions in force then.{" "}
              <Anchor
                inherit
                underline="always"
                renderRoot={(props) => <Link to="/findings" search={{ instanceId: [instance.id] }} {...props} />}
              >
                All its findings
              </Anchor>
            </Text>
            <Stack gap={8}>
              {h.domains.map((d) => (
                <Domain key={d.name} domain={d} />
              ))}
            </Stack>
          </div>
          <ByDay history={h.history} />
        </SimpleGrid>
      )}
    </Panel>
  );
}

function Domain({ domain: d }: { domain: Schemas["DomainHealth"] }) {
  const gaps = d.notAssessed > 0 ? `, ${count(d.notAssessed)} not assessed` : "";
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm">{d.name}</Text>
        <Text size="xs" c="dimmed" className="numbers">
          {d.score === null
            ? "nothing to score"
            : `${count(d.failed)} of ${plural(d.failed + d.passed, "check")} failed`}
          {gaps}
        </Text>
      </Group>
      <Progress
        value={d.score ?? 0}
        size="sm"
        aria-label={`${d.name}: ${d.score === null ? "no score" : Math.round(d.score)}`}
      />
    </div>
  );
}

const dayAfter = (day: string) => new Date(Date.parse(day) + 86_400_000).toISOString();

/** ByDay is the score of each day; a day without an assessment is a gap. */
function ByDay({ history }: { history: InstanceHealth["history"] }) {
  const [generatedAt] = useState(() => new Date().toISOString());
  const first = history[0];
  const last = history.at(-1);
  if (!first || !last || history.length < 2) {
    return (
      <Text size="sm" c="dimmed">
        The score of each day shows here from the second day on.
      </Text>
    );
  }
  const starts = history.map(({ day }) => `${day}T00:00:00Z`);
  return (
    <TimeSeriesChart
      title="Score by day"
      group="score"
      window={{ from: starts[0] as string, to: dayAfter(last.day) }}
      bucketSize="1d"
      bucketStarts={starts}
      lastBucketPartial
      generatedAt={generatedAt}
      series={[{ key: "score", label: "Score", color: palette.cpu, values: history.map(({ score }) => score) }]}
      format={(v) => `${Math.round(v)}`}
      upTo={100}
      height={180}
    />
  );
}
