import { Alert, Anchor, Button, Group, Text } from "@mantine/core";
import { IconBellOff } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, client, type Schemas } from "../api/client";
import { useSession, useToldAtFirst } from "../api/session";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { notificationsChanged } from "./changed";

/** tellsOfAlerts says that a rule tells of alerts that are raised. */
export const tellsOfAlerts = ({ enabled, match: { event } }: Pick<Schemas["NotificationRule"], "enabled" | "match">) =>
  enabled && (!event?.length || event.includes("alert.raised"));

/** tellAdministrators has every administrator e-mailed of alerts, through the channel for that or a new one. */
async function tellAdministrators() {
  const channels = (await client.GET("/api/v1/channels")).data?.items ?? [];
  const known = channels.find(({ kind, administrators }) => kind === "email" && administrators);
  const id =
    known?.id ??
    (await client.POST("/api/v1/channels", { body: { name: "Administrators", kind: "email", administrators: true } }))
      .data?.id;
  if (id === undefined) return;
  await client.POST("/api/v1/notification-rules", {
    body: {
      name: "Critical and warning alerts",
      match: { severity: ["critical", "warning"], event: ["alert.raised", "alert.resolved"] },
      channelIds: [id],
      groupSeconds: 10,
      repeatMinutes: 0,
      enabled: true,
    },
  });
}

/** NobodyIsTold warns administrators that no rule sends alerts. Where a mail server is set, one click adds such a rule. */
export function NobodyIsTold({ mb }: { mb?: "md" }) {
  const { can, mail } = useSession();
  const atFirst = useToldAtFirst();
  const { data } = api.useQuery("get", "/api/v1/notification-rules", {}, { enabled: can("admin") });
  const tell = useMutation({
    mutationFn: tellAdministrators,
    onSuccess: async () => {
      say("Administrators get an e-mail about critical and warning alerts.");
      await notificationsChanged();
    },
  });
  if (data ? data.items.some(tellsOfAlerts) : atFirst !== false) return null;
  return (
    <Alert
      role="status"
      color="yellow"
      variant="outline"
      mb={mb}
      icon={<IconBellOff aria-hidden />}
      title="Alerts are not sent to anyone yet"
      data-nobody-is-told
    >
      {mail === "server" ? (
        <Group gap="sm">
          <Button size="xs" loading={tell.isPending} onClick={() => tell.mutate()}>
            E-mail all administrators
          </Button>
          <Anchor
            size="sm"
            underline="always"
            renderRoot={(props) => <Link {...props} to="/notifications/rules/new" />}
          >
            Choose other recipients or another channel
          </Anchor>
        </Group>
      ) : (
        <>
          <Text size="sm" mb="xs">
            No mail server is set, so Muster cannot send e-mails. Add a chat or a webhook, or have the person who runs
            Muster set <code>MUSTER_SMTP_URL</code>.
          </Text>
          <Button size="xs" renderRoot={(props) => <Link {...props} to="/notifications/rules/new" />}>
            Send alerts to a chat or a webhook
          </Button>
        </>
      )}
      {tell.error && <ProblemNote error={tell.error} title="The rule was not made" />}
    </Alert>
  );
}
