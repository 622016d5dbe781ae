import { Skeleton, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { client, type Schemas } from "../api/client";
import { ChangesOnCharts } from "../changes/ChangesOnCharts";
import { palette, seriesColors } from "../chart/palette";
import { type ChartSeries, TimeSeriesChart } from "../chart/TimeSeriesChart";
import { latency, percent, sessions } from "../dashboard/units";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { bucketSizeOf } from "../window/window";
import { aroundOf } from "./around";
import type { Figure, Measured } from "./rules";

type Asked = { from: string; to: string; bucketSize: Schemas["BucketSize"]; instanceId: string[] };
type Answer = Pick<
  Schemas["Utilization"],
  "from" | "to" | "bucketSize" | "bucketStarts" | "lastBucketPartial" | "generatedAt"
>;
type Read = { answer: Answer; values: (number | null)[] } | null;

const reads: Record<Figure, (query: Asked, signal: AbortSignal) => Promise<Read>> = {
  disk: async (query, signal) => {
    const { data } = await client.GET("/api/v1/metrics/utilization", { params: { query }, signal });
    return data ? { answer: data, values: data.series.diskPercent } : null;
  },
  cpu: async (query, signal) => {
    const { data } = await client.GET("/api/v1/metrics/utilization", { params: { query }, signal });
    return data ? { answer: data, values: data.series.cpuPercent } : null;
  },
  locks: async (query, signal) => {
    const { data } = await client.GET("/api/v1/metrics/wait-events", { params: { query }, signal });
    return data ? { answer: data, values: data.series.locks } : null;
  },
  latency: async (query, signal) => {
    const { data } = await client.GET("/api/v1/metrics/query-performance", { params: { query }, signal });
    return data ? { answer: data, values: data.series.avgLatencyMs } : null;
  },
};

const looks: Record<
  Figure,
  { name: string; about: string; color: string; format: (v: number) => string; upTo?: number }
> = {
  disk: { name: "Disk", about: "The fullest volume of the server", color: palette.disk, format: percent, upTo: 100 },
  cpu: { name: "CPU", about: "CPU of the server", color: palette.cpu, format: percent, upTo: 100 },
  locks: { name: "Locks", about: "Average sessions that waited for locks", color: palette.locks, format: sessions },
  latency: {
    name: "Average",
    about: "Average latency of the server's statements",
    color: palette.average,
    format: latency,
  },
};

/** AlertChart is the value that an alert is about, from an hour before it on, against its threshold. */
export function AlertChart({ alert, measured, now }: { alert: Schemas["Alert"]; measured: Measured; now: Date }) {
  const { figure, threshold } = measured;
  const look = looks[figure];
  // By the minute, so that a page that is open does not ask at each rendering.
  const minute = Math.floor(now.getTime() / 60_000) * 60_000;
  const { from, to, instanceId = [] } = useMemo(() => aroundOf(alert, new Date(minute)), [alert, minute]);
  const asked = useQuery({
    queryKey: ["alert-value", figure, from, to, instanceId],
    queryFn: ({ signal }) =>
      reads[figure]({ from, to, bucketSize: bucketSizeOf(new Date(from), new Date(to)), instanceId }, signal),
    placeholderData: (kept) => kept,
  });
  const read = asked.data;
  const series = useMemo(() => {
    if (!read) return [];
    const value: ChartSeries = {
      key: figure,
      label: looks[figure].name,
      color: looks[figure].color,
      values: read.values,
    };
    const line: ChartSeries[] =
      threshold === null
        ? []
        : [{ key: "threshold", label: "Threshold", color: seriesColors.red, values: read.values.map(() => threshold) }];
    return [value, ...line];
  }, [read, figure, threshold]);
  const markers = useMemo(
    () => [
      { at: alert.firstTriggeredAt, label: "raised" },
      ...(alert.resolvedAt ? [{ at: alert.resolvedAt, label: "resolved" }] : []),
    ],
    [alert.firstTriggeredAt, alert.resolvedAt],
  );
  const body = () => {
    if (asked.isError)
      return <ProblemNote error={asked.error} title="The value could not be loaded" onRetry={asked.refetch} />;
    if (!read) return <Skeleton height={250} />;
    if (read.values.every((v) => v === null)) {
      return (
        <Text size="sm" c="dimmed">
          Nothing was measured of it at that time.
        </Text>
      );
    }
    return (
      <ChangesOnCharts from={from} to={to} servers={{ instanceId }}>
        <TimeSeriesChart
          title={threshold === null ? look.about : `${look.about}, with its threshold`}
          group="alert"
          window={{ from: read.answer.from, to: read.answer.to }}
          bucketSize={read.answer.bucketSize}
          bucketStarts={read.answer.bucketStarts}
          lastBucketPartial={read.answer.lastBucketPartial}
          generatedAt={read.answer.generatedAt}
          series={series}
          format={look.format}
          upTo={look.upTo}
          markers={markers}
        />
      </ChangesOnCharts>
    );
  };
  return (
    <Panel>
      <Title order={2}>{threshold === null ? "Measured value" : "Value and threshold"}</Title>
      <Text size="sm" c="dimmed" mb="xs">
        {look.about}
      </Text>
      {body()}
    </Panel>
  );
}
