import { Alert, Anchor } from "@mantine/core";
import { IconTool } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { api } from "../api/client";
import { useSession } from "../api/session";
import { Time } from "../ui/Time";

/** InMaintenance says of a server that it is in a maintenance window, and until when. */
export function InMaintenance({ instanceId }: { instanceId: string }) {
  const may = useSession().can("alerts:read");
  const query = { params: { query: { instanceId } } };
  const asked = api.useQuery("get", "/api/v1/maintenance-windows", query, { enabled: may, refetchInterval: 60_000 });
  const running = asked.data?.items.filter((w) => w.running) ?? [];
  const last = running.toSorted((a, b) => (b.running?.to ?? "").localeCompare(a.running?.to ?? ""))[0];
  if (!last?.running) return null;
  return (
    <Alert variant="outline" color="orange" mb="md" icon={<IconTool aria-hidden />}>
      In the maintenance window{" "}
      <Anchor inherit underline="always" renderRoot={(props) => <Link to="/maintenance-windows" {...props} />}>
        <bdi>{last.name}</bdi>
      </Anchor>{" "}
      until <Time at={last.running.to} />. New alerts notify nobody before then.
    </Alert>
  );
}
