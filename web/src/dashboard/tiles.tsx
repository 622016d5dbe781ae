import { Link } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { palette } from "../chart/palette";
import { engineName } from "../engines";
import { plural } from "../ui/format";
import { windowQuery } from "../window/query";
import { useScope } from "../window/scope";
import { queryBefore } from "./asking";
import { Coverage } from "./Coverage";
import classes from "./dashboard.module.css";
import { type Drawing, Tile } from "./Tile";
import { latency, percent, sessions } from "./units";

/** Of the second row's plots: two bands need it, and neighbours align. */
const tall = 260;

type Measured = { engines: string[]; partialEngines: string[] };

/** In front of what else is said of a tile: the line is cut off at its end where it is too long. */
const part = ({ partialEngines }: Measured) =>
  partialEngines.length > 0 && (
    <strong data-part title="A sender reports only a part: the first statements or sessions of its list.">
      {partialEngines.map(engineName).join(", ")} in part ·{" "}
    </strong>
  );

const engines = (answer: Measured) => (
  <>
    {part(answer)}
    {answer.engines.map(engineName).join(", ") || "no data from any engine"}
  </>
);

const hosts = ({ hostCount }: Schemas["Utilization"]) => plural(hostCount, "host");

export const drawUtilization = ({ series }: Schemas["Utilization"]): Drawing => ({
  series: [
    { key: "cpuPercent", label: "CPU", color: palette.cpu, values: series.cpuPercent },
    { key: "memoryPercent", label: "Memory", color: palette.memory, values: series.memoryPercent },
    { key: "diskPercent", label: "Disk", color: palette.disk, values: series.diskPercent },
  ],
  format: percent,
  upTo: 100,
});

/** UtilizationTile is CPU and memory averaged over the hosts, and the fullest volume of them all. */
export function UtilizationTile() {
  const scope = useScope();
  const utilization = api.useQuery(
    "get",
    "/api/v1/metrics/utilization",
    { params: { query: windowQuery(scope) } },
    { enabled: !scope.matchesNothing },
  );
  const before = api.useQuery(
    "get",
    "/api/v1/metrics/utilization",
    { params: { query: queryBefore(scope) } },
    { enabled: scope.compares && !scope.matchesNothing },
  );
  return (
    <Tile
      title="Utilization"
      about="Average CPU and memory, fullest disk"
      note={hosts}
      asked={utilization}
      before={before}
      draw={drawUtilization}
      whole="cpu"
      // Where the alert history has to learn the names of the chosen servers, this is the first chart.
      later={scope.servers.instanceId === undefined}
    />
  );
}

// The slowest query is a thousand times the average: on one axis the average would be the base line.
const latencyBands: Drawing["bands"] = [
  { label: "Average, linear scale", scale: "linear", series: ["avgLatencyMs"] },
  { label: "Slowest, logarithmic scale", scale: "log", series: ["maxLatencyMs"] },
];

export const drawLatency = ({ series }: Schemas["QueryPerformance"]): Drawing => ({
  series: [
    { key: "avgLatencyMs", label: "Average", color: palette.average, values: series.avgLatencyMs },
    { key: "maxLatencyMs", label: "Slowest query (mean)", color: palette.maximum, values: series.maxLatencyMs },
  ],
  bands: latencyBands,
  format: latency,
});

const enginesAndCoverage = (answer: Schemas["QueryPerformance"]) => (
  <>
    {part(answer)}
    {answer.engines.length > 0 && <Coverage />}
    {engines({ ...answer, partialEngines: [] })}
  </>
);

/** QueryPerformanceTile is the latency over all executions, and the mean of the query whose mean is highest. */
export function QueryPerformanceTile() {
  const scope = useScope();
  const performance = api.useQuery(
    "get",
    "/api/v1/metrics/query-performance",
    { params: { query: windowQuery(scope) } },
    { enabled: !scope.matchesNothing },
  );
  const before = api.useQuery(
    "get",
    "/api/v1/metrics/query-performance",
    { params: { query: queryBefore(scope) } },
    { enabled: scope.compares && !scope.matchesNothing },
  );
  return (
    <Tile
      title="Query performance"
      about="Latency"
      note={enginesAndCoverage}
      asked={performance}
      before={before}
      draw={drawLatency}
      whole="average"
      plotHeight={tall}
      later
    />
  );
}

export const drawWaits = ({ series }: Schemas["WaitEvents"]): Drawing => ({
  series: [
    { key: "locks", label: "Locks", color: palette.locks, values: series.locks },
    {
      key: "lightweightLocks",
      label: "Lightweight locks",
      color: palette.lightweightLocks,
      values: series.lightweightLocks,
    },
    { key: "io", label: "I/O", color: palette.io, values: series.io },
    {
      key: "clientNetwork",
      label: "Client / network",
      color: palette.clientNetwork,
      values: series.clientNetwork,
      hint: "most of these sessions are idle",
    },
    {
      key: "other",
      label: "Other",
      color: palette.other,
      values: series.other,
      hint: "idle sessions of Oracle are among these",
    },
  ],
  stacked: true,
  format: sessions,
});

/** WaitEventsTile is the average number of waiting sessions, by what they wait for. */
export function WaitEventsTile() {
  const scope = useScope();
  const waits = api.useQuery(
    "get",
    "/api/v1/metrics/wait-events",
    { params: { query: windowQuery(scope) } },
    { enabled: !scope.matchesNothing },
  );
  const before = api.useQuery(
    "get",
    "/api/v1/metrics/wait-events",
    { params: { query: queryBefore(scope) } },
    { enabled: scope.compares && !scope.matchesNothing },
  );
  return (
    <Tile
      title="Wait events"
      about="Average waiting sessions"
      note={engines}
      asked={waits}
      before={before}
      draw={drawWaits}
      whole="all"
      plotHeight={tall}
      later
      way={
        <Link to="/activity" search={scope.search} className={classes.way}>
          Activity
        </Link>
      }
    />
  );
}
