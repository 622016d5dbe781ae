import { lazy, Suspense, useState } from "react";
import { serverNow } from "../api/clock";
import { useSession } from "../api/session";
import { PageTitle } from "../ui/PageTitle";
import { part } from "../ui/part";
import { useScope } from "../window/scope";
import { AlertHistoryTile } from "./AlertHistoryTile";
import { Digest } from "./Digest";
import classes from "./dashboard.module.css";
import { FirstRun } from "./FirstRun";
import { awaitsFirst, beginning, useFleet, useReporting } from "./fleet";
import { Kpis } from "./Kpis";
import { LaterPanel, usePanelSoon } from "./LaterPanel";
import { MarksProvider } from "./marks";
import { ReportingLine } from "./ReportingLine";
import { QueryPerformanceTile, UtilizationTile, WaitEventsTile } from "./tiles";
import { useWho } from "./who";

// Loaded by whoever has just added the first server.
const FirstMinute = lazy(() => part(() => import("./FirstMinute")).then((m) => ({ default: m.FirstMinute })));

/** Beginning says what comes when, where all that is in scope has just been added: until it is there, or too old. */
function Beginning() {
  const { instanceIds } = useScope();
  const { organization } = useSession();
  const { instances } = useReporting(instanceIds);
  const [over, end] = useState("");
  const ids = instances?.map((i) => i.id).join() ?? "";
  const begins = !organization.demo && awaitsFirst(instances ?? [], serverNow().getTime(), beginning);
  if (!begins || over === ids) return null;
  return (
    <Suspense>
      <FirstMinute onOver={() => end(ids)} />
    </Suspense>
  );
}

/** DashboardPage is the organization at a glance: who reports, what is so now, how it came to be, and the latest alerts. */
export function DashboardPage() {
  const { matchesNothing } = useScope();
  const fleet = useFleet(!matchesNothing);
  const { who } = useWho();
  usePanelSoon();
  if (fleet.data?.length === 0) {
    return (
      <>
        <PageTitle title="Dashboard" />
        <FirstRun />
      </>
    );
  }
  return (
    <>
      <PageTitle title="Dashboard" lead={<ReportingLine />} />
      <div className={classes.page} data-beside={who !== null}>
        <Beginning />
        <Kpis />
        <MarksProvider>
          <div className={classes.tiles}>
            <AlertHistoryTile />
            <UtilizationTile />
            <QueryPerformanceTile />
            <WaitEventsTile />
          </div>
        </MarksProvider>
        <Digest />
      </div>
      {who && <LaterPanel who={who} />}
    </>
  );
}
