import { Anchor } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { onServer } from "../api/clock";
import { useSession } from "../api/session";
import { ago, count, plural } from "../ui/format";
import { useScope } from "../window/scope";
import classes from "./dashboard.module.css";
import { silentOf, useReporting } from "./fleet";

const named = 5;

/** ReportingLine says how many of the servers in scope were heard of in time, and names the silent ones. It is phrasing, for a paragraph. */
export function ReportingLine() {
  const { instanceIds, matchesNothing } = useScope();
  const { organization } = useSession();
  const { instances, isError, dataUpdatedAt, refetch } = useReporting(instanceIds);
  if (matchesNothing) return <span className={classes.reporting}>No instance matches this filter.</span>;
  if (isError && !instances) {
    return (
      <span className={classes.reporting}>
        Muster could not read the list of instances.{" "}
        <Anchor component="button" type="button" inherit onClick={() => refetch()}>
          Retry
        </Anchor>
      </span>
    );
  }
  if (!instances) return <span className={classes.reporting}>Loading instances</span>;
  const active = instances.filter((i) => i.active);
  const asOf = onServer(dataUpdatedAt);
  const silent = silentOf(instances, organization.watch.silentMinutes, asOf);
  return (
    <span className={classes.reporting} data-silent={silent.length > 0}>
      {silent.length > 0 ? <IconAlertTriangle size={16} aria-hidden /> : <IconCircleCheck size={16} aria-hidden />}
      <span className={`numbers ${classes.reported}`}>
        {count(active.length - silent.length)} of {plural(active.length, "active instance")} reporting
        {active.length < instances.length && `, ${count(instances.length - active.length)} inactive`}
      </span>
      {silent.length > 0 && (
        <span>
          Silent:{" "}
          {silent.slice(0, named).map((i, at) => (
            <Fragment key={i.id}>
              {at > 0 && ", "}
              <Anchor
                component={Link}
                to={`/instances/${i.id}`}
                inherit
                className={classes.silent}
                title={
                  i.lastSeenAt ? `${i.name}, last seen ${ago(i.lastSeenAt, new Date(asOf))}` : `${i.name}, never seen`
                }
              >
                {i.name}
              </Anchor>
            </Fragment>
          ))}
          {silent.length > named && (
            <>
              {" "}
              and{" "}
              <Anchor component={Link} to="/instances" inherit underline="always">
                {count(silent.length - named)} more
              </Anchor>
            </>
          )}
        </span>
      )}
    </span>
  );
}
