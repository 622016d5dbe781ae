import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { usePolling, whileMoving } from "../api/polling";
import { useSession } from "../api/session";
import { DeliveryMark, keptInOutbox } from "../notify/marks";
import { channelKindName, eventName } from "../notify/words";
import { useNow } from "../ui/now";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";

type Told = Schemas["AlertNotification"];

/** As long are deliveries kept, and longer those of an alert that is open. */
const kept = 90 * 86_400_000;

/** WhoWasTold is who was told of an alert: when, through which channel, and by which rule. */
export function WhoWasTold({ alert: { id: alertId, resolvedAt } }: { alert: Schemas["AlertDetail"] }) {
  const now = useNow(60_000);
  const purged = resolvedAt !== null && now.getTime() - Date.parse(resolvedAt) > kept;
  const { data, error, refetch } = api.useQuery(
    "get",
    "/api/v1/alerts/{alertId}/notifications",
    { params: { path: { alertId } } },
    {
      ...usePolling<{ items: Told[] }>(({ items }) =>
        items.some((told) => told.status === "pending") ? whileMoving : 30_000,
      ),
      staleTime: 0,
    },
  );
  return (
    <Panel>
      <section aria-labelledby="who-was-told">
        <Title order={2} id="who-was-told" mb="sm">
          Notifications sent
        </Title>
        {error && !data && <ProblemNote error={error} onRetry={refetch} />}
        {data?.items.length === 0 && (
          <Text size="sm" c="dimmed">
            {purged
              ? "Notifications are kept for 90 days; this alert is older."
              : "No one: no notification rule matched this alert when it was raised."}
          </Text>
        )}
        <Stack gap="sm">
          {data?.items.map((told) => (
            <Row key={`${told.deliveryId} ${told.event}`} told={told} />
          ))}
        </Stack>
      </section>
    </Panel>
  );
}

function Row({ told: t }: { told: Told }) {
  const { can, role } = useSession();
  const names = t.recipients.map(({ name }) => name || "an erased member");
  const when = <Time at={t.at} />;
  return (
    <Group justify="space-between" align="flex-start" gap="sm" wrap="nowrap" data-told={t.status}>
      <div style={{ minWidth: 0 }}>
        <Text size="sm" fw={500}>
          <bdi>{names.length > 0 ? names.join(", ") : t.channel.name}</bdi>
        </Text>
        <Text size="xs" c="dimmed">
          {eventName(t.event)} · {channelKindName(t.channel.kind)}
          {names.length > 0 && (
            <>
              {" "}
              <bdi>{t.channel.name}</bdi>
            </>
          )}{" "}
          · rule <bdi>{t.rule.name}</bdi>
        </Text>
      </div>
      <Text size="sm" ta="right" component="div" style={{ flexShrink: 0, maxWidth: "45%" }}>
        <DeliveryMark status={t.status} reason={t.reason} kept={keptInOutbox(t.channel.kind, t)} />
        <Text size="xs" c="dimmed" component="div">
          {can("audit:read") && role !== "team" ? (
            <Anchor
              inherit
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/notifications/deliveries/$deliveryId"
                  params={{ deliveryId: t.deliveryId } as never}
                />
              )}
            >
              {when}
            </Anchor>
          ) : (
            when
          )}
        </Text>
      </Text>
    </Group>
  );
}
