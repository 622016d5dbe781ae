import { Alert, Text } from "@mantine/core";
import { IconArrowsShuffle, IconCopy, IconServer2 } from "@tabler/icons-react";
import type { Schemas } from "../api/client";
import { Time } from "../ui/Time";
import { isNews, type Kin, kinOf } from "./answers";
import { ServerLink } from "./ServerLink";

type Server = Schemas["AnsweringServer"];

/** Answers is which server answers, as far as people should know: another instance's, a copy, or through a pooler. */
export function Answers({ server, now }: { server: Server; now: Date }) {
  const kin = kinOf(server);
  return (
    <>
      {server.movedAt && isNews(server.movedAt, now) && (
        <Alert color="yellow" variant="outline" icon={<IconArrowsShuffle aria-hidden />} data-server-moved>
          <Text fw={600} size="sm">
            Another server answers at this address
          </Text>
          <Text size="sm">
            Since <Time at={server.movedAt} />, this address leads to a different server than before. Earlier figures
            and findings belong to the other server. If the address leads to several servers in turn, register each by
            its own address.
          </Text>
        </Alert>
      )}
      {server.sameAs.length > 0 && (
        <Alert color="yellow" variant="outline" icon={<IconCopy aria-hidden />} data-same-server>
          <Text fw={600} size="sm">
            This server is registered {server.sameAs.length === 1 ? "twice" : `${server.sameAs.length + 1} times`}
          </Text>
          <Text size="sm">
            Also as <Names of={server.sameAs} />. Each instance counts its connections, databases, findings and alerts.
          </Text>
        </Alert>
      )}
      {(kin || server.pooler === "transaction") && (
        <Alert variant="default" icon={<IconServer2 aria-hidden />} data-cluster>
          {kin && (
            <Text size="sm">
              {words[kin.is]} <Names of={kin.of} />. Findings and CVEs that they share are counted for each.
            </Text>
          )}
          {server.pooler === "transaction" && (
            <Text size="sm">
              A pooler in transaction mode answers, such as PgBouncer. Muster reaches only the databases that the pooler
              offers, and shares its connections. Register the server itself to see all of it.
            </Text>
          )}
        </Alert>
      )}
    </>
  );
}

const words: Record<Kin["is"], string> = {
  standby: "Standby of",
  primary: "Primary of",
  copy: "The same cluster as",
};

function Names({ of }: { of: Schemas["KnownServer"][] }) {
  return of.map((one, nth) => (
    <span key={one.id}>
      {nth > 0 && (nth === of.length - 1 ? " and " : ", ")}
      <ServerLink id={one.id} name={one.name} inherit underline="always" />
    </span>
  ));
}
