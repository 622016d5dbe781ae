import { Anchor, Paper, Skeleton, Text, Title, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { count } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { useScope } from "../window/scope";
import classes from "./activity.module.css";
import { Name } from "./Name";
import { type Dimension, dimensionNames, listedBeside, rowsOf } from "./query";
import { type Asked, Bar, useTop } from "./Top";

type Props = Asked & {
  dimensions: Dimension[];
  /** The reader might see whose sessions they are, and the organization does not keep it. */
  peopleOff: boolean;
  /** What the chart is by. */
  charted: Dimension;
  onBy: (by: Dimension) => void;
};

/** Beside is the same time by the other dimensions, the first few of each; a dimension's name has the chart show it. */
export function Beside({ dimensions, peopleOff, charted, onBy, ...time }: Props) {
  const { servers } = useScope();
  const { can } = useSession();
  const one = servers.instanceId?.length === 1;
  return (
    <Paper withBorder component="section" aria-label="The same time by" miw={0}>
      <div className={classes.besideHead}>
        <Title order={2}>The same time by</Title>
        <Text size="xs" c="dimmed">
          select a heading to chart it, a name to filter
        </Text>
      </div>
      {dimensions
        .filter((by) => by !== "instance" || !one)
        .map((by) => (
          <Few key={by} by={by} charted={by === charted} onBy={() => onBy(by)} {...time} />
        ))}
      {peopleOff && (
        <Text size="xs" c="dimmed" className={classes.few}>
          Users, applications and clients of sessions are not kept.{" "}
          {can("admin") && (
            <Anchor component={Link} to="/settings/organization" size="xs">
              Settings
            </Anchor>
          )}
        </Text>
      )}
    </Paper>
  );
}

function Few({ by, charted, onBy, ...time }: Asked & { by: Dimension; charted: boolean; onBy: () => void }) {
  const { asked, data } = useTop(by, time, listedBeside);
  const { tab } = dimensionNames[by];
  const all = data && data.items.length + data.others;
  return (
    <section className={classes.few} aria-label={tab} aria-busy={asked.isFetching}>
      <div className={classes.fewHead}>
        <h3>
          <UnstyledButton className={classes.heading} aria-pressed={charted} onClick={onBy}>
            {tab}
          </UnstyledButton>
        </h3>
        {data && all !== undefined && all > data.items.length && (
          <span className={classes.about}>
            {data.items.length} of {count(all)}
          </span>
        )}
      </div>
      {asked.isError && !data && <ProblemNote error={asked.error} onRetry={asked.refetch} />}
      {!data && !asked.isError && <Skeleton height={60} />}
      {data && data.items.length === 0 && (
        <p className={classes.about}>{data.average === null ? "not sampled" : "none active"}</p>
      )}
      <ul className={classes.fewList}>
        {data &&
          rowsOf(data).map((row) => (
            <li key={row.item.key}>
              <Name by={by} row={row} picked={time.picked} onNarrow={time.onNarrow} />
              <Bar by={by} row={row} colors={null} />
              <span className={classes.fewFigure}>{row.average}</span>
            </li>
          ))}
      </ul>
    </section>
  );
}
