import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { useSession } from "../api/session";
import { mails } from "../notify/kinds";
import { channelKindName, quietText, whatText } from "../notify/words";
import { Few } from "./Few";

/** WhoIsTold is who will be told of an instance, by the rules that are on. */
export function WhoIsTold({ instanceId }: { instanceId: string }) {
  const { can } = useSession();
  const asked = api.useQuery("get", "/api/v1/instances/{instanceId}/notification-rules", {
    params: { path: { instanceId } },
  });
  return (
    <Few
      title="Notification recipients"
      asked={asked}
      none="No one: no notification rule matches this instance."
      all={
        can("admin") && (
          <Anchor size="sm" renderRoot={(props) => <Link to="/notifications/rules" {...props} />}>
            All rules
          </Anchor>
        )
      }
    >
      {(asked.data?.items ?? []).map((rule) => (
        <div key={rule.rule.id} data-rule={rule.rule.id}>
          <Text size="sm" fw={500}>
            {rule.channels.map((channel, at) => (
              <span key={channel.id}>
                {at > 0 && "; "}
                <Through channel={channel} />
              </span>
            ))}
          </Text>
          <Text size="xs" c="dimmed">
            of {whatText({ ...rule, engine: null, instanceIds: null, nameContains: null })}
            {rule.quiet && `, ${quietText(rule.quiet)}`}: rule <bdi>{rule.rule.name}</bdi>
          </Text>
        </div>
      ))}
    </Few>
  );
}

function Through({ channel }: { channel: Schemas["ToldThrough"] }) {
  const { mail } = useSession();
  if (!mails(channel.kind)) {
    return (
      <>
        <bdi>{channel.name}</bdi> ({channelKindName(channel.kind)})
      </>
    );
  }
  return (
    <>
      <bdi>{channel.recipients.map(({ name }) => name || "an erased member").join(", ") || "nobody"}</bdi>
      {mail === "outbox" && " (no mail server is set: kept in the outbox)"}
    </>
  );
}
