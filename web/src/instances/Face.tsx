import { Grid, Stack } from "@mantine/core";
import { useSession } from "../api/session";
import { readsFindings } from "../findings/may";
import { useNarrow } from "../ui/narrow";
import { Changes } from "./Changes";
import { Charts } from "./Charts";
import { Score } from "./Health";
import type { Instance } from "./standing";
import { TopStatements } from "./TopStatements";
import { LastReports, OpenAlerts, WorstFindings } from "./Trouble";
import { WhoIsTold } from "./WhoIsTold";

/**
 * Face is how an instance fares: score and trends; then what to do, and beside it what happened. On a phone, what is
 * wrong now comes before the trends.
 */
export function Face({ instance: i }: { instance: Instance }) {
  const session = useSession();
  const narrow = useNarrow();
  const findings = session.can("reports:download") && readsFindings(session.role);
  const alerts = session.can("alerts:read") && <OpenAlerts instanceId={i.id} />;
  return (
    <Stack gap="lg">
      {findings && <Score key={i.lastAssessedAt} instance={i} />}
      {narrow && alerts}
      <Charts instanceId={i.id} alerts={session.can("alerts:read")} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="md">
            {findings && (
              <WorstFindings key={i.lastAssessedAt} instanceId={i.id} assessed={i.lastAssessedAt !== null} />
            )}
            <TopStatements instance={i} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="md">
            {!narrow && alerts}
            {session.can("alerts:read") && <WhoIsTold instanceId={i.id} />}
            {findings && <Changes key={i.lastAssessedAt} instance={i} />}
            {session.can("reports:read") && <LastReports instanceId={i.id} />}
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}
