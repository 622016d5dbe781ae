import { Text, Title } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { api } from "../api/client";
import { bucketSizeFor } from "../statements/query";
import { plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { useAnchor, useScope } from "../window/scope";
import classes from "./blocking.module.css";
import { type Deadlocked, numberOf, placeOf, sideOf, sourceOf } from "./deadlocks";

const listed = 10;

/** Deadlocks are the databases that had some in the window, each with both sides of the newest one where these are known. */
export function Deadlocks({ instanceId }: { instanceId?: string }) {
  const { window, servers, matchesNothing } = useScope();
  const { at } = useAnchor();
  const { from, to } = window;
  const bucketSize = bucketSizeFor(window, at); // they are kept as single statements are
  const query = { from, to, bucketSize, ...(instanceId === undefined ? servers : { instanceId: [instanceId] }) };
  const { data, error, refetch } = api.useQuery(
    "get",
    "/api/v1/activity/deadlocks",
    { params: { query } },
    { enabled: !matchesNothing, placeholderData: keepPreviousData },
  );
  if (error && !data) return <ProblemNote error={error} title="Deadlocks could not be loaded" onRetry={refetch} />;
  if (!data || data.items.length === 0) return null;
  const more = data.items.length + data.others - Math.min(listed, data.items.length);
  return (
    <section aria-label="Deadlocks">
      <Panel miw={0}>
        <Title order={2} mb="sm">
          Deadlocks
        </Title>
        {data.items.slice(0, listed).map((d) => (
          <OfDatabase key={`${d.instance.id} ${d.database?.id ?? ""}`} of={d} server={instanceId === undefined} />
        ))}
        {more > 0 && (
          <Text size="xs" c="dimmed">
            {plural(more, "more database")} had deadlocks.
          </Text>
        )}
      </Panel>
    </section>
  );
}

function OfDatabase({ of, server }: { of: Deadlocked; server: boolean }) {
  return (
    <div className={classes.item} data-deadlocks>
      <div style={{ minWidth: 0 }}>
        <Text size="sm" fw={550}>
          {numberOf(of)}, <bdi>{placeOf(of)}</bdi>
        </Text>
        {server && (
          <Text size="xs" c="dimmed">
            <bdi>{of.instance.name}</bdi>
          </Text>
        )}
        <ul className={classes.sides}>
          {of.sessions.map((s) => {
            const side = sideOf(s, of.victims);
            return (
              <li key={s.session}>
                <bdi>{side.name}</bdi>
                {side.ended && " (ended by the server)"}
                {side.wants && (
                  <span className={classes.dim}>
                    {" "}
                    <bdi>{side.wants}</bdi>
                  </span>
                )}
                {side.statement && (
                  <code className={classes.text}>
                    <bdi>{side.statement}</bdi>
                  </code>
                )}
              </li>
            );
          })}
        </ul>
        <Text size="xs" c="dimmed">
          {sourceOf(of)}
        </Text>
      </div>
      {of.newestAt && (
        <div className={classes.when}>
          <Time at={of.newestAt} />
        </div>
      )}
    </div>
  );
}
