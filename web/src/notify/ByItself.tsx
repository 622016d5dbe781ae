import { Alert, Anchor, Text } from "@mantine/core";
import { IconMailCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { api } from "../api/client";
import { usePolling, whileMoving } from "../api/polling";
import { useSession } from "../api/session";
import { noServer } from "./OutboxNote";
import { whatText } from "./words";

/** ByItself says to administrators what a fresh installation tells without having been asked to, and where to change that. */
export function ByItself() {
  const { can, mail } = useSession();
  // The rule is made within a minute of the first start, which is when a first page is looked at.
  const polling = usePolling<{ items: unknown[] }>(({ items }) => items.length === 0 && whileMoving);
  const { data } = api.useQuery("get", "/api/v1/notification-rules", {}, { ...polling, enabled: can("admin") });
  const rule = data?.items.find(({ createdBy, enabled }) => createdBy === null && enabled);
  const channels = api.useQuery("get", "/api/v1/channels", {}, { enabled: rule !== undefined });
  // Somebody may have given it another channel, or that one to others.
  const mailed = channels.data?.items.some(({ id, administrators }) => administrators && rule?.channelIds.includes(id));
  if (!rule || !mailed) return null;
  return (
    <Alert
      role="status"
      color="gray"
      variant="light"
      mb="md"
      icon={<IconMailCheck aria-hidden />}
      title="Muster notifies your administrators automatically"
      data-by-itself
    >
      <Text size="sm">
        Muster sends an e-mail to every administrator about {whatText(rule.match)}.{noServer(mail)} It has set this up
        itself.{" "}
        <Anchor inherit underline="always" renderRoot={(props) => <Link {...props} to="/notifications/rules" />}>
          Change or switch off this rule
        </Anchor>
      </Text>
    </Alert>
  );
}
