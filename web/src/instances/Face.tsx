import { Grid, Stack } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { useSession } from "../api/session";
import { readsFindings } from "../findings/may";
import { Changes } from "./Changes";
import { Charts, Load, useSeries, useWaits } from "./Charts";
import { Score } from "./Health";
import type { Instance } from "./standing";
import { TopStatements } from "./TopStatements";
import { LastReports, OpenAlerts, WorstFindings } from "./Trouble";
import { WhoIsTold } from "./WhoIsTold";

/**
 * Face is how a server fares: its load and its statements, and beside them what is wrong now. What explains it follows, and
 * is asked for when the load is there. children are the last of the page.
 */
export function Face({ instance: i, children }: { instance: Instance; children: ReactNode }) {
  const session = useSession();
  const findings = session.can("reports:download") && readsFindings(session);
  const alerts = session.can("alerts:read");
  const series = useSeries();
  const rest = useOncePainted(!useWaits(i.id).isPending);
  return (
    <Stack gap="lg">
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            <Load instanceId={i.id} series={series} />
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
          {findings && <Score key={i.lastAssessedAt} instance={i} />}
          <Charts instanceId={i.id} series={series} alerts={alerts} />
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

/** A hidden tab has no frames: there, what waits for one is shown after so many milliseconds. */
const patience = 1_000;

/** useOncePainted is true from when what came as it held was painted. */
function useOncePainted(holds: boolean): boolean {
  const [painted, paint] = useState(false);
  useEffect(() => {
    if (!holds) return;
    const done = () => paint(true);
    let timer = setTimeout(done, patience);
    const frame = requestAnimationFrame(() => {
      clearTimeout(timer);
      timer = setTimeout(done);
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [holds]);
  return painted;
}
