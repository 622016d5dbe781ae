import { lazy, Suspense, useEffect, useState } from "react";
import { onServer, serverNow } from "../api/clock";
import { useServersAtFirst, useSession } from "../api/session";
import { ChangesOnCharts } from "../changes/ChangesOnCharts";
import { noteNone, useAfterFirst } from "../chart/first";
import { NobodyIsTold } from "../notify/NobodyIsTold";
import { useLater } from "../ui/later";
import { PageTitle } from "../ui/PageTitle";
import { part } from "../ui/part";
import { useScope } from "../window/scope";
import { AlertHistoryTile } from "./AlertHistoryTile";
import classes from "./dashboard.module.css";
import { awaitsFirst, beginning, useFleet, useReporting } from "./fleet";
import { LaterPanel, usePanelSoon } from "./LaterPanel";
import { MarksProvider } from "./marks";
import { StateLine } from "./StateLine";
import { Trouble } from "./Trouble";
import { QueryPerformanceTile, UtilizationTile, WaitEventsTile } from "./tiles";
import { troubled } from "./troubled";
import { useWho } from "./who";

// Around the charts, and after the first of them.
const around = () => import("./around");
const firstRun = () => import("./FirstRun");

const tiles = (
  <MarksProvider>
    <div className={classes.tiles}>
      <AlertHistoryTile />
      <UtilizationTile />
      <QueryPerformanceTile />
      <WaitEventsTile />
    </div>
  </MarksProvider>
);

/** Tiles are the trends, with what changed in their window. */
function Tiles() {
  const { window, servers } = useScope();
  return (
    <ChangesOnCharts from={window.from} to={window.to} servers={servers}>
      {tiles}
    </ChangesOnCharts>
  );
}

// Loaded by whoever has just added the first server.
const FirstMinute = lazy(() => part(() => import("./FirstMinute")).then((m) => ({ default: m.FirstMinute })));

/** Beginning says what comes when, where all that is in scope has just been added: until it is there, or too old. */
function Beginning() {
  const { servers } = useScope();
  const { organization } = useSession();
  const { instances } = useReporting(servers);
  const [over, end] = useState("");
  const ids = instances?.map((i) => i.id).join() ?? "";
  const now = serverNow().getTime();
  // Where the organization is as new as its servers, its card has its room before they are read.
  const room = <div className={classes.beginning} />;
  const since = organization.demo ? null : organization.monitoringStartedAt;
  if (!instances && since && now - Date.parse(since) < beginning) return room;
  const begins = !organization.demo && awaitsFirst(instances ?? [], now, beginning);
  if (!begins || over === ids) return null;
  return (
    <Suspense fallback={room}>
      <FirstMinute onOver={() => end(ids)} />
    </Suspense>
  );
}

/**
 * InTrouble is what comes before every figure: the servers that are not up. Until they are read, those that the session
 * told of: what comes later pushes the page down.
 */
function InTrouble() {
  const { servers, matchesNothing } = useScope();
  const { instances, dataUpdatedAt, isError } = useReporting(servers);
  const told = useServersAtFirst();
  if (matchesNothing) return null;
  if (instances) {
    const active = instances.filter((i) => i.status !== "inactive").length;
    return <Trouble active={active} {...troubled(instances, active, onServer(dataUpdatedAt))} />;
  }
  if (!told || isError || servers.tag) return null; // the session tells no tags
  const { inactive, ...states } = told.states;
  const active = servers.instanceId?.length ?? Object.values(states).reduce((sum, n) => sum + n, 0);
  if (told.notUp.length < states.down + states.silent + states.unknown) return null; // of too many the first ones alone
  const notUp = told.notUp.filter((i) => servers.instanceId?.includes(i.id) ?? true);
  return <Trouble active={active} {...troubled(notUp, active, serverNow().getTime())} />;
}

/** useAfterPaint is a value once what came with it is painted. */
function useAfterPaint<V>(value: V): V {
  const [painted, paint] = useState(value);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => paint(value));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [value]);
  return painted;
}

/** DashboardPage is the organization at a glance: who reports, what is so now, how it came to be, and the latest alerts. */
export function DashboardPage() {
  const { matchesNothing } = useScope();
  const fleet = useFleet(!matchesNothing);
  const { who } = useWho();
  usePanelSoon();
  // Beside the panel the four charts are drawn anew, narrower. It is there before that.
  const beside = useAfterPaint(who !== null);
  const empty = fleet.data?.length === 0;
  const first = useLater(firstRun, empty);
  const rest = useLater(around, useAfterFirst());
  useEffect(() => {
    if (empty) noteNone();
  }, [empty]);
  if (empty) {
    return (
      <>
        <PageTitle title="Dashboard" />
        {first && <first.FirstRun />}
      </>
    );
  }
  return (
    <>
      <PageTitle
        title="Dashboard"
        beside={
          <>
            <StateLine />
            {rest && <rest.Overdue />}
          </>
        }
      />
      <div className={classes.page} data-beside={beside}>
        <InTrouble />
        <Beginning />
        <NobodyIsTold />
        {rest ? <rest.Kpis /> : <div className={classes.kpisWaiting} role="status" aria-label="Loading key figures" />}
        <Tiles />
        {rest && <rest.Digest />}
      </div>
      {who && <LaterPanel who={who} />}
    </>
  );
}
