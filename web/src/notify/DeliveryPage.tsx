import { Skeleton, Stack, Text, Title } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { api } from "../api/client";
import { usePolling, whileMoving } from "../api/polling";
import { useSession } from "../api/session";
import { Facts } from "../reports/statusFacts";
import { absoluteTime, count, plural } from "../ui/format";
import { NotThere } from "../ui/NotThere";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { Time } from "../ui/Time";
import { Trail } from "../ui/Trail";
import { DeliveryMark, keptInOutbox } from "./marks";
import { NoticeTable } from "./NoticeTable";
import { Retry } from "./Retry";
import { channelKindName, codeText, type Delivery, summaryOf } from "./words";

/** DeliveryPage is one delivery: what came of it, and everything that it told. */
export function DeliveryPage() {
  const { deliveryId } = useParams({ from: "/notifications/deliveries/$deliveryId" });
  const delivery = api.useQuery(
    "get",
    "/api/v1/deliveries/{deliveryId}",
    { params: { path: { deliveryId } } },
    { ...usePolling<Delivery>((d) => d.status === "pending" && whileMoving), staleTime: 0 },
  );
  if (delivery.data) return <Shown delivery={delivery.data} />;
  return (
    <>
      <PageTitle title="Delivery" />
      {delivery.isPending && <Skeleton height={320} />}
      {delivery.error && (
        <NotThere
          what="delivery"
          error={delivery.error}
          onRetry={() => delivery.refetch()}
          all={{ to: "/notifications/deliveries", name: "deliveries" }}
        >
          Deliveries are kept for 90 days, and those of an open alert for as long as it is open.
        </NotThere>
      )}
    </>
  );
}

function Shown({ delivery: d }: { delivery: Delivery }) {
  const { can } = useSession();
  return (
    <>
      <Trail to="/notifications/deliveries" name="Deliveries">
        Delivery
      </Trail>
      <PageTitle
        title={summaryOf(d)}
        lead={`Through ${d.channel.name} (${channelKindName(d.channel.kind)}), by the rule ${d.rule.name}`}
        actions={d.status === "failed" && can("admin") && <Retry delivery={d} />}
      />
      <Stack gap="md">
        <Panel>
          <Title order={2} mb="sm">
            What came of it
          </Title>
          <Facts
            facts={[
              [
                "State",
                <DeliveryMark key="state" status={d.status} reason={d.reason} kept={keptInOutbox(d.channel.kind, d)} />,
              ],
              ["Since", absoluteTime(d.at)],
              ["Begun", absoluteTime(d.createdAt)],
              ["Attempts", count(d.attempts)],
              ["Next attempt", d.nextAttemptAt && <Time key="next" at={d.nextAttemptAt} ahead />],
              ["Last answer", codeText(d.channel.kind, d.lastCode)],
              ["Last error", d.lastError],
              [
                "Id",
                <Text key="id" span size="xs" ff="monospace">
                  {d.id}
                </Text>,
              ],
            ]}
          />
        </Panel>
        <Panel>
          <Title order={2} mb="sm">
            {plural(d.events.length + d.omitted, "event")}
          </Title>
          <NoticeTable label="Events" notices={d.events} />
        </Panel>
      </Stack>
    </>
  );
}
