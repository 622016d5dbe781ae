import { Anchor, Group, NativeSelect, Paper, SimpleGrid, Skeleton, Text, Title } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
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
import { type Preset, presetNames, presets, type Window } from "../window/window";

const queryOf = ({ from, to, bucketSize }: Window, instanceId: string) => ({
  params: { query: { from, to, bucketSize, instanceId: [instanceId] } },
});

/** useWaits is what a server's sessions waited for, in the window of the page. */
export function useWaits(instanceId: string) {
  const { window } = useScope();
  return api.useQuery("get", "/api/v1/metrics/wait-events", queryOf(window, instanceId));
}

/** Series is which series the page's charts hide, and how that is changed: those of a name are hidden on all of them. */
type Series = { hidden: ReadonlySet<string>; onToggle: (key: string) => void };

/** useSeries is Series for the charts of one page. */
export function useSeries(): Series {
  const [hide, setHide] = useState<readonly Hidable[]>(atFirst);
  return {
    hidden: new Set<string>(hide),
    onToggle: (key) => setHide((now) => toggled(now, key as Hidable) ?? atFirst),
  };
}

type Charted = { instanceId: string; series: Series };

/** Load is what a server's sessions wait for, and the choice of the window that all charts of the page show. */
export function Load({ instanceId, series }: Charted) {
  const { search } = useScope();
  return (
    <section aria-label="Load" style={{ minWidth: 0 }}>
      <Group justify="space-between" mb="sm">
        <Title order={2}>Load</Title>
        <Group gap="md">
          <Anchor
            size="sm"
            renderRoot={(props) => <Link to="/activity" search={{ ...search, instanceId: [instanceId] }} {...props} />}
          >
            Activity of this server
          </Anchor>
          <WindowChoice />
        </Group>
      </Group>
      <Trend
        title="Wait events"
        asked={useWaits(instanceId)}
        draw={drawWaits}
        whole="all"
        {...{ instanceId, series }}
      />
    </section>
  );
}

function WindowChoice() {
  const { window, setPreset } = useScope();
  return (
    <NativeSelect
      aria-label="Window of the trends"
      value={window.preset ?? ""}
      onChange={(e) => setPreset(e.currentTarget.value as Preset)}
      data={[
        ...(window.preset ? [] : [{ value: "", label: "Chosen on a chart", disabled: true }]),
        ...presets.map((value) => ({ value, label: presetNames[value] })),
      ]}
    />
  );
}

/** Charts are the dashboard's other trends of one server, on the cursor of its load; a click leads to the dashboard. */
export function Charts({ instanceId, series, alerts: mayAlerts }: Charted & { alerts: boolean }) {
  const { window } = useScope();
  const query = queryOf(window, instanceId);
  const alerts = api.useQuery("get", "/api/v1/alerts/raised-resolved-history", query, { enabled: mayAlerts });
  const utilization = api.useQuery("get", "/api/v1/metrics/utilization", query);
  const performance = api.useQuery("get", "/api/v1/metrics/query-performance", query);
  const shared = { instanceId, series };
  return (
    <section aria-label="Trends">
      <Title order={2} mb="sm">
        Trends
      </Title>
      <SimpleGrid cols={{ base: 1, md: 2, lg: mayAlerts ? 3 : 2 }} spacing="md">
        <Trend title="Utilization" asked={utilization} draw={drawUtilization} whole="cpu" {...shared} />
        <Trend title="Query performance" asked={performance} draw={drawLatency} whole="average" {...shared} />
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
  series: { hidden, onToggle },
}: {
  title: string;
  asked: Asked<A>;
  draw: (answer: A) => Drawing;
  whole: Figure;
  instanceId: string;
  series: Series;
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
