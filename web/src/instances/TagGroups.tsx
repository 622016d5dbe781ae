import { Anchor, Skeleton, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePolling } from "../api/polling";
import { count, plural } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { everyInstance } from "./every";
import { type Group, groupsOf } from "./groups";
import { StatusMark } from "./standing";
import { type Instance, statusNames } from "./states";
import classes from "./tags.module.css";

type Query = Parameters<typeof everyInstance>[0];

/** TagGroups is the servers that a query leaves, by the value of a tag. Each value leads to its servers. */
export function TagGroups({ tagKey, query }: { tagKey: string; query: Query }) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["get", "/api/v1/instances", "groups", query],
    queryFn: ({ signal }) => everyInstance(query, signal),
    placeholderData: keepPreviousData,
    ...usePolling<Instance[]>(() => 30_000),
  });
  if (error && !data) return <ProblemNote error={error} title="Instances could not be loaded" onRetry={refetch} />;
  if (!data) return <Skeleton height={120} m="md" />;
  return (
    <ul className={classes.groups} aria-label={`Instances by ${tagKey}`} aria-busy={isFetching}>
      {groupsOf(data, tagKey).map((group) => (
        <Row key={group.value ?? ""} tagKey={tagKey} group={group} />
      ))}
    </ul>
  );
}

function Row({ tagKey, group: g }: { tagKey: string; group: Group }) {
  const states = g.counts.map(([of, n]) => `${count(n)} ${statusNames[of].toLowerCase()}`).join(", ");
  const word = g.value === null ? null : `${tagKey}:${g.value}`;
  return (
    <li className={classes.group}>
      <div className={classes.value}>
        {word === null ? (
          <Text size="sm">Without {tagKey}</Text>
        ) : (
          <Anchor
            fw={600}
            size="sm"
            renderRoot={(props) => (
              <Link
                from="/instances"
                to="/instances"
                search={({ tag, ...here }) => ({
                  ...here,
                  group: undefined,
                  page: undefined,
                  tag: [...(tag ?? []).filter((other) => !other.startsWith(`${tagKey}:`)), word],
                })}
                {...props}
              />
            )}
          >
            <bdi>{word}</bdi>
          </Anchor>
        )}
      </div>
      <StatusMark status={g.worst} />
      <Text size="sm" span className="numbers">
        {plural(g.instances, "instance")}
        {g.counts.length > 1 && `: ${states}`}
      </Text>
      <Text size="sm" span className="numbers" c={g.openAlerts ? undefined : "dimmed"}>
        {g.openAlerts === null ? "alerts not known" : plural(g.openAlerts, "open alert")}
        {g.criticalAlerts > 0 && `, ${count(g.criticalAlerts)} critical`}
      </Text>
    </li>
  );
}
