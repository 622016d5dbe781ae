import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { ago } from "../ui/format";
import { useNow } from "../ui/now";

/** A notification leaves within two minutes of its alert: before that, nobody is missing. Milliseconds. */
const patience = 120_000;

const whom = ({ channel, recipients }: Schemas["AlertNotification"]) =>
  recipients.map(({ name }) => name || "an erased member").join(", ") || channel.name;

/** Told is who was told first that a server went down, and when, or that nobody was. What is not known is not said. */
export function Told({ instanceId }: { instanceId: string }) {
  const session = useSession();
  const now = useNow(10_000);
  const { data } = api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/outage",
    { params: { path: { instanceId } } },
    { enabled: session.can("alerts:read"), ...usePolling(() => 30_000) },
  );
  if (!data?.alert) return null;
  const { first, notifications, alert } = data;
  const nobody = notifications === 0 && now.getTime() - Date.parse(alert.raisedAt) > patience;
  if (!first && !nobody) return null;
  return (
    <Text size="xs" c="dimmed" component="span" data-told>
      {first && (
        <>
          <bdi>{whom(first)}</bdi> told {ago(first.at, now)}
        </>
      )}
      {nobody && "No one was notified. "}
      {nobody && session.can("admin") && (
        <Anchor inherit underline="always" renderRoot={(props) => <Link to="/notifications/rules" {...props} />}>
          Set up
        </Anchor>
      )}
    </Text>
  );
}
