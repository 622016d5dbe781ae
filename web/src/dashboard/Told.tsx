import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { ago } from "../ui/format";
import { useNow } from "../ui/now";

/** The alert comes within a minute, and is told within another: before that, nobody is missing. Milliseconds. */
const minute = 60_000;

const whom = ({ channel, recipients }: Schemas["AlertNotification"]) =>
  recipients.map(({ name }) => name || "an erased member").join(", ") || channel.name;

/** Told is who was told first that a server went down, and when, or that nobody was. What is not known is not said. */
export function Told({ instanceId, since }: { instanceId: string; since: string }) {
  const session = useSession();
  const now = useNow(10_000);
  const polling = usePolling(() => 30_000);
  const alerts = api.useQuery(
    "get",
    "/api/v1/alerts",
    {
      params: {
        query: {
          instanceId: [instanceId],
          status: "open",
          severity: ["critical"],
          sort: "-lastTriggeredAt",
          pageSize: 5,
        },
      },
    },
    { enabled: session.can("alerts:read"), ...polling },
  );
  const began = Date.parse(since) - minute;
  const alert = alerts.data?.items.find((a) => Date.parse(a.firstTriggeredAt) >= began);
  const told = api.useQuery(
    "get",
    "/api/v1/alerts/{alertId}/notifications",
    { params: { path: { alertId: alert?.id ?? "" } } },
    { enabled: alert !== undefined, ...polling },
  );
  if (!alert || !told.data) return null;
  const first = told.data.items.filter((n) => n.status === "sent").at(-1); // the newest comes first
  const nobody = told.data.items.length === 0 && now.getTime() - Date.parse(alert.createdAt) > 2 * minute;
  if (!first && !nobody) return null;
  return (
    <Text size="xs" c="dimmed" component="span" data-told>
      {first && (
        <>
          <bdi>{whom(first)}</bdi> told {ago(first.at, now)}
        </>
      )}
      {nobody && "Nobody was told. "}
      {nobody && session.can("admin") && (
        <Anchor inherit underline="always" renderRoot={(props) => <Link to="/notifications/rules" {...props} />}>
          Set up
        </Anchor>
      )}
    </Text>
  );
}
