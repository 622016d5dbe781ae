import { Group, NativeSelect, Paper, SimpleGrid, Skeleton, Text, Title } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useId, useState } from "react";
import { api } from "../api/client";
import { type Picked, TimeSeriesChart } from "../chart/TimeSeriesChart";
import { drawAlerts } from "../dashboard/AlertHistoryTile";
import type { Answer, Asked, Drawing } from "../dashboard/Tile";
import { drawLatency, drawUtilization, drawWaits } from "../dashboard/tiles";
import { atFirst, type Hidable, type SeriesName, toggled } from "../dashboard/useHidden";
import { type Figure, figureOf } from "../dashboard/who";
import { ProblemNote } from "../ui/ProblemNote";
import { useScope } from "../window/scope";
import { type Preset, presetNames, presets } from "../window/window";

/** Charts are the dashboard's four trends of one instance, on one cursor; a click leads to the dashboard, to who is behind it. */
export function Charts({ instanceId, alerts: mayAlerts }: { instanceId: string; alerts: boolean }) {
  const { window, setPreset } = useScope();
  const [hide, setHide] = useState<readonly Hidable[]>(atFirst);
  const { from, to, bucketSize } = window;
  const query = { from, to, bucketSize, instanceId: [instanceId] };
  const alerts = api.useQuery(
    "get",
    "/api/v1/alerts/raised-resolved-history",
    { params: { query } },
    { enabled: mayAlerts },
  );
  const utilization = api.useQuery("get", "/api/v1/metrics/utilization", { params: { query } });
  const performance = api.useQuery("get", "/api/v1/metrics/query-performance", { params: { query } });
  const waits = api.useQuery("get", "/api/v1/metrics/wait-events", { params: { query } });
  const shared = {
    instanceId,
    hidden: new Set<string>(hide),
    onToggle: (key: string) => setHide((now) => toggled(now, key as Hidable) ?? atFirst),
  };
  return (
    <section aria-label="Trends">
      <Group justify="space-between" mb="sm">
        <Title order={2}>Trends</Title>
        <NativeSelect
          aria-label="Window of the trends"
          value={window.preset ?? ""}
          onChange={(e) => setPreset(e.currentTarget.value as Preset)}
          data={[
            ...(window.preset ? [] : [{ value: "", label: "Chosen on a chart", disabled: true }]),
            ...presets.map((value) => ({ value, label: presetNames[value] })),
          ]}
        />
      </Group>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Trend title="Utilization" asked={utilization} draw={drawUtilization} whole="cpu" {...shared} />
        <Trend title="Query performance" asked={performance} draw={drawLatency} whole="average" {...shared} />
        <Trend title="Wait events" asked={waits} draw={drawWaits} whole="all" {...shared} />
        {mayAlerts && <Trend title="Alert history" asked={alerts} draw={drawAlerts} whole="firing" {...shared} />}
      </SimpleGrid>
    </section>
  );
}

function Trend<A extends Answer>({
  title,
  asked,
  draw,
  whole,
  instanceId,
  hidden,
  onToggle,
}: {
  title: string;
  asked: Asked<A>;
  draw: (answer: A) => Drawing;
  whole: Figure;
  instanceId: string;
  hidden: ReadonlySet<string>;
  onToggle: (key: string) => void;
}) {
  const { window, setCustom, search } = useScope();
  const navigate = useNavigate();
  const heading = useId();
  const behind = useCallback(
    ({ from, to, series }: Picked) =>
      navigate({
        to: "/",
        search: {
          ...search,
          instanceId: [instanceId],
          who: series === null ? whole : figureOf[series as SeriesName],
          whoFrom: from,
          whoTo: to,
        } as never,
      }),
    [navigate, search, instanceId, whole],
  );
  const { data } = asked;
  const drawing = data && draw(data);
  const valued = drawing?.series.some((s) => s.values.some((v) => v !== null)) ?? false;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={heading} aria-busy={asked.isFetching} miw={0}>
      <Title order={3} id={heading} mb="xs">
        {title}
      </Title>
      {asked.isError && !data && <ProblemNote error={asked.error} onRetry={asked.refetch} />}
      {!data && !asked.isError && <Skeleton height={240} />}
      {drawing && !valued && (
        <Text size="sm" c="dimmed">
          Nothing was measured in this window.
        </Text>
      )}
      {data && drawing && valued && (
        <TimeSeriesChart
          {...drawing}
          title={title}
          group="instance"
          window={window}
          bucketSize={data.bucketSize}
          bucketStarts={data.bucketStarts}
          lastBucketPartial={data.lastBucketPartial}
          generatedAt={data.generatedAt}
          onZoom={setCustom}
          onPick={behind}
          height={200}
          hidden={hidden}
          onToggle={onToggle}
        />
      )}
    </Paper>
  );
}
