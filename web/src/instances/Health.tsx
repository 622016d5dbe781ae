import { Anchor, Badge, Group, Progress, SimpleGrid, Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Schemas } from "../api/client";
import { palette } from "../chart/palette";
import { TimeSeriesChart } from "../chart/TimeSeriesChart";
import { EmptyState } from "../ui/EmptyState";
import { count, plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";

type InstanceHealth = Schemas["InstanceHealth"];
type Change = Schemas["InstanceChange"];

/** Health is the score of an instance, how it came to be, and what changed on it. It is read again with each assessment. */
export function Health({ instanceId, assessedAt }: { instanceId: string; assessedAt: string | null }) {
  const { data, error, refetch } = api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/health",
    { params: { path: { instanceId } } },
    { meta: { assessedAt } },
  );
  if (error && !data) return <ProblemNote error={error} title="Its health could not be loaded" onRetry={refetch} />;
  if (!data) return <Skeleton height={220} />;
  return (
    <>
      <ScorePanel health={data} instanceId={instanceId} />
      <Changes changes={data.changes} assessed={data.assessedAt !== null} />
    </>
  );
}

function ScorePanel({ health: h, instanceId }: { health: InstanceHealth; instanceId: string }) {
  return (
    <Panel>
      <Title order={2} mb="sm">
        Score
      </Title>
      {h.assessedAt === null && (
        <EmptyState title="No score yet">The first assessment that keeps a score shows here.</EmptyState>
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
                renderRoot={(props) => <Link to="/findings" search={{ instanceId: [instanceId] }} {...props} />}
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

const kinds: Record<string, string> = {
  setting: "Setting",
  role: "Role",
  grant: "Grant",
  hba: "pg_hba.conf",
  version: "Version",
  extension: "Extension",
};

const shown = 10;

/** Changes is what differed between assessments; the first few until somebody asks for all. */
function Changes({ changes, assessed }: { changes: Change[]; assessed: boolean }) {
  const [all, setAll] = useState(false);
  const listed = all ? changes : changes.slice(0, shown);
  return (
    <Panel p={0}>
      <Group p="md" justify="space-between">
        <Title order={2}>What changed lately</Title>
        {changes.length > shown && !all && (
          <Anchor component="button" type="button" size="sm" onClick={() => setAll(true)}>
            Show all {count(changes.length)}
          </Anchor>
        )}
      </Group>
      {changes.length === 0 && (
        <EmptyState title="No changes seen">
          {assessed
            ? "Settings, roles, grants, pg_hba.conf, version and extensions are compared at each assessment."
            : "Muster compares what it finds from the second assessment on."}
        </EmptyState>
      )}
      {changes.length > 0 && (
        <Table.ScrollContainer type="native" minWidth={720} tabIndex={0} role="region" aria-label="What changed lately">
          <Table verticalSpacing="xs" horizontalSpacing="md">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Found</Table.Th>
                <Table.Th scope="col">What</Table.Th>
                <Table.Th scope="col">Before</Table.Th>
                <Table.Th scope="col">After</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {listed.map((c, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a change has no id, and the list is read whole
                <Table.Tr key={n} style={{ verticalAlign: "top" }} data-change={c.kind}>
                  <Table.Td>
                    <Time at={c.at} relative />
                  </Table.Td>
                  <Table.Td maw={320}>
                    <Badge variant="outline" size="sm" mr={6} tt="none">
                      {kinds[c.kind] ?? c.kind}
                    </Badge>
                    <Text size="sm" ff="monospace" span style={{ overflowWrap: "anywhere" }}>
                      {c.name ?? "no longer kept"}
                    </Text>
                  </Table.Td>
                  <Value of={c.before} absent={c.added ? "not there" : unsaid(c)} />
                  <Value of={c.after} absent={c.removed ? "removed" : unsaid(c)} />
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Panel>
  );
}

const unsaid = (c: Change) => (c.name === null ? "no longer kept" : "not shown, may hold a secret");

function Value({ of, absent }: { of: string | null; absent: string }) {
  return (
    <Table.Td maw={260}>
      {of === null ? (
        <Text size="sm" c="dimmed">
          {absent}
        </Text>
      ) : (
        <Text size="sm" ff="monospace" lineClamp={3} title={of} style={{ overflowWrap: "anywhere" }}>
          {of === "" ? "(empty)" : of}
        </Text>
      )}
    </Table.Td>
  );
}
