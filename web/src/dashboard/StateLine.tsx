import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type Status, statuses, statusIcons, statusNames } from "../instances/states";
import { count, plural } from "../ui/format";
import { useScope } from "../window/scope";
import { type Counted, countOf, useReporting } from "./fleet";
import classes from "./states.module.css";

/** Up to so many servers are a square each; more are one bar. */
const squares = 60;

/** StateLine says how many of the servers in scope are in which state, each count leading to them, and how many report. It is phrasing, for a paragraph. */
export function StateLine() {
  const { instanceIds, matchesNothing } = useScope();
  const { instances, isError, refetch } = useReporting(instanceIds);
  if (matchesNothing) return <span className={classes.line}>No instance matches this filter.</span>;
  if (isError && !instances) {
    return (
      <span className={classes.line}>
        Muster could not read the list of instances.{" "}
        <Anchor component="button" type="button" inherit onClick={() => refetch()}>
          Retry
        </Anchor>
      </span>
    );
  }
  if (!instances) return <span className={classes.line}>Loading instances</span>;
  const counts = countOf(instances);
  const active = instances.length - counts.inactive;
  const watched = statuses.filter((status) => status !== "inactive");
  const marked = watched.flatMap((status) => instances.filter((i) => i.status === status));
  return (
    <span className={classes.line} data-states>
      {watched
        .filter((status) => counts[status] > 0)
        .map((status) => (
          <State key={status} status={status} count={counts[status]} instanceIds={instanceIds} />
        ))}
      {active > 0 && active <= squares && (
        <span className={classes.squares} aria-hidden>
          {marked.map((i) => (
            <Link
              key={i.id}
              to="/instances/$instanceId"
              params={{ instanceId: i.id }}
              tabIndex={-1}
              className={classes.square}
              data-state={i.status}
              title={`${i.name}: ${statusNames[i.status].toLowerCase()}`}
            />
          ))}
        </span>
      )}
      {active > squares && <Bar counts={counts} active={active} />}
      <span className="numbers">
        {count(counts.up)} of {plural(active, "active instance")} reporting
        {counts.inactive > 0 && `, ${count(counts.inactive)} inactive`}
      </span>
    </span>
  );
}

function State({
  status,
  count: n,
  instanceIds,
}: {
  status: Status;
  count: number;
  instanceIds: string[] | undefined;
}) {
  const Icon = statusIcons[status];
  return (
    <Link to="/instances" search={{ status, instanceId: instanceIds }} className={classes.state} data-state={status}>
      <Icon size={16} aria-hidden />
      <b className="numbers">{count(n)}</b> {statusNames[status].toLowerCase()}
    </Link>
  );
}

function Bar({ counts, active }: { counts: Counted; active: number }) {
  return (
    <span className={classes.bar} aria-hidden>
      {statuses.map(
        (status) =>
          status !== "inactive" &&
          counts[status] > 0 && (
            <span
              key={status}
              className={classes.square}
              data-state={status}
              style={{ flexGrow: counts[status] / active }}
            />
          ),
      )}
    </span>
  );
}
