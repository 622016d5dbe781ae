import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useServersAtFirst } from "../api/session";
import { type Instance, type Status, statuses, statusIcons, statusNames } from "../instances/states";
import { count, plural } from "../ui/format";
import type { Filter } from "../window/query";
import { useScope } from "../window/scope";
import { type Counted, countOf, useReporting } from "./fleet";
import classes from "./states.module.css";

/** Up to so many servers are a square each; more are one bar. */
const squares = 60;

/**
 * StateLine says how many of the servers in scope are in which state, each count leading to them, and how many report.
 * Until they are read, the session has told the counts of the whole organization.
 */
export function StateLine() {
  const { servers, filter, matchesNothing } = useScope();
  const told = useServersAtFirst();
  const { instances, isError, refetch } = useReporting(servers);
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
  const counts = instances ? countOf(instances) : servers.instanceId || servers.tag ? undefined : told?.states;
  if (!counts) return <span className={classes.line}>Loading instances</span>;
  const watched = statuses.filter((status) => status !== "inactive");
  const active = watched.reduce((sum, status) => sum + counts[status], 0);
  return (
    <span className={classes.line} data-states>
      {watched
        .filter((status) => counts[status] > 0)
        .map((status) => (
          <State key={status} status={status} count={counts[status]} filter={filter} />
        ))}
      {active > 0 && active <= squares && (
        <span className={classes.squares} aria-hidden>
          {watched.flatMap((status) => {
            const of = instances?.filter((i) => i.status === status) ?? Array(counts[status]).fill(null);
            return of.map((i: Instance | null, at) => <Square key={i?.id ?? status + at} status={status} of={i} />);
          })}
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

function State({ status, count: n, filter }: { status: Status; count: number; filter: Filter }) {
  const Icon = statusIcons[status];
  return (
    <Link to="/instances" search={{ status, ...filter }} className={classes.state} data-state={status}>
      <Icon size={16} aria-hidden />
      <b className="numbers">{count(n)}</b> {statusNames[status].toLowerCase()}
    </Link>
  );
}

function Square({ status, of }: { status: Status; of: Instance | null }) {
  if (!of) return <span className={classes.square} data-state={status} />;
  return (
    <Link
      to="/instances/$instanceId"
      params={{ instanceId: of.id }}
      tabIndex={-1}
      className={classes.square}
      data-state={status}
      title={`${of.name}: ${statusNames[status].toLowerCase()}`}
    />
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
