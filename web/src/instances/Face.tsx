import { Grid, Stack } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { useSession } from "../api/session";
import { Deadlocks } from "../blocking/Deadlocks";
import { noteNone, useAfterFirst } from "../chart/first";
import { checkedEngines } from "../engines";
import { readsFindings } from "../findings/may";
import { part } from "../ui/part";
import { Backups } from "./Backups";
import { Blocking } from "./Blocking";
import { Changes } from "./Changes";
import { Charts, Load, useSeries, useWaits } from "./Charts";
import { Score } from "./Health";
import { Replication } from "./Replication";
import type { Instance } from "./standing";
import { TopStatements } from "./TopStatements";
import { Transactions } from "./Transactions";
import { LastReports, OpenAlerts, WorstFindings } from "./Trouble";
import { WhoIsTold } from "./WhoIsTold";

const Room = lazy(() => part(() => import("./Room")));

/**
 * Face is how a server fares: its load and its statements, and beside them what is wrong now. What explains it follows, and
 * is asked for when the load is there. children are the last of the page.
 */
export function Face({ instance: i, children }: { instance: Instance; children: ReactNode }) {
  const session = useSession();
  const findings = session.can("reports:download") && readsFindings(session);
  const alerts = session.can("alerts:read");
  const series = useSeries();
  const rest = useRest(i.id);
  return (
    <Stack gap="lg">
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            <Load instanceId={i.id} series={series} />
            {rest && <Blocking instanceId={i.id} />}
            {rest && <Deadlocks instanceId={i.id} />}
            <TopStatements instance={i} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          {rest && (
            <Stack gap="md">
              {alerts && <OpenAlerts instanceId={i.id} />}
              {findings && (
                <WorstFindings key={i.lastAssessedAt} instanceId={i.id} assessed={i.lastAssessedAt !== null} />
              )}
              {alerts && <WhoIsTold instanceId={i.id} />}
            </Stack>
          )}
        </Grid.Col>
      </Grid>
      {rest && (
        <>
          {session.can("metrics:read") && isChecked(i.engine) && <Replication instance={i} />}
          {session.can("metrics:read") && <Backups instance={i} />}
          {session.can("metrics:read") && (
            <Suspense>
              <Room instance={i} />
            </Suspense>
          )}
          {findings && <Score key={i.lastAssessedAt} instance={i} />}
          <Charts instanceId={i.id} series={series} alerts={alerts} />
          <Transactions instanceId={i.id} />
          <Grid gap="md">
            {findings && (
              <Grid.Col span={{ base: 12, md: 7 }}>
                <Changes key={i.lastAssessedAt} instance={i} />
              </Grid.Col>
            )}
            {session.can("reports:read") && (
              <Grid.Col span={{ base: 12, md: 5 }}>
                <LastReports instanceId={i.id} />
              </Grid.Col>
            )}
          </Grid>
          {children}
        </>
      )}
    </Stack>
  );
}

/** isChecked says whether Muster measures an engine: only of those it knows who follows whom. */
const isChecked = (engine: string) => (checkedEngines as readonly string[]).includes(engine);

/** useRest is true once the load is drawn, or is known not to be. */
function useRest(instanceId: string): boolean {
  const drawn = useAfterFirst();
  const { data, isPending } = useWaits(instanceId);
  const blank = !isPending && !Object.values(data?.series ?? {}).some((values) => values.some((v) => v !== null));
  useEffect(() => {
    if (blank) noteNone();
  }, [blank]);
  const [there, come] = useState(false);
  if (drawn && !isPending && !there) come(true); // and stays, whichever window is chosen
  return there;
}
