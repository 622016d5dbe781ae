import { PageTitle } from "../ui/PageTitle";
import { useScope } from "../window/scope";
import { AlertHistoryTile } from "./AlertHistoryTile";
import { Digest } from "./Digest";
import classes from "./dashboard.module.css";
import { FirstRun } from "./FirstRun";
import { useFleet } from "./fleet";
import { Kpis } from "./Kpis";
import { LaterPanel, usePanelSoon } from "./LaterPanel";
import { ReportingLine } from "./ReportingLine";
import { QueryPerformanceTile, UtilizationTile, WaitEventsTile } from "./tiles";
import { useWho } from "./who";

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
        <Kpis />
        <div className={classes.tiles}>
          <AlertHistoryTile />
          <UtilizationTile />
          <QueryPerformanceTile />
          <WaitEventsTile />
        </div>
        <Digest />
      </div>
      {who && <LaterPanel who={who} />}
    </>
  );
}
