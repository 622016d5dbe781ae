import { Stack } from "@mantine/core";
import { useSession } from "../api/session";
import { readsFindings } from "../findings/may";
import { Charts } from "./Charts";
import { Health } from "./Health";
import type { Instance } from "./standing";
import { Trouble } from "./Trouble";

/** Face is how an instance fares: score, trends, what is wrong, what changed. */
export function Face({ instance: i }: { instance: Instance }) {
  const session = useSession();
  const findings = session.can("reports:download") && readsFindings(session.role);
  return (
    <Stack gap="lg">
      {findings && <Health key={i.lastAssessedAt} instanceId={i.id} assessedAt={i.lastAssessedAt} />}
      <Trouble
        instanceId={i.id}
        may={{ alerts: session.can("alerts:read"), findings, reports: session.can("reports:read") }}
      />
      <Charts instanceId={i.id} alerts={session.can("alerts:read")} />
    </Stack>
  );
}
