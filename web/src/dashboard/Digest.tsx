import { Anchor, Paper, Skeleton, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useId } from "react";
import { alertDuration, MutedBadge, SeverityBadge, StateBadge } from "../alerts/badges";
import { api, type Schemas } from "../api/client";
import { EmptyState } from "../ui/EmptyState";
import { duration } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { useScope } from "../window/scope";
import { useCurrent } from "./asking";
import classes from "./digest.module.css";
import { type AlertScope, useAlertScope } from "./fleet";
import { useLast } from "./last";
import { NoInstance } from "./NoValues";

const rows = 10;

function Row({ alert }: { alert: Schemas["Alert"] }) {
  const { search } = useScope();
  const where = [alert.instance?.name, alert.database?.name].filter(Boolean).join(" · ");
  return (
    <li className={classes.row}>
      <span className={classes.severity}>
        <SeverityBadge severity={alert.severity} />
      </span>
      <span className={classes.state}>
        <StateBadge state={alert.state} />
      </span>
      <span className={classes.what}>
        <Link
          to="/alerts/$alertId"
          params={{ alertId: alert.id }}
          search={search}
          className={classes.title}
          title={alert.title}
        >
          {alert.title}
        </Link>
        {alert.isMuted && <MutedBadge />}
      </span>
      <span className={classes.where} title={where}>
        {where || "no instance"}
      </span>
      <span className={classes.when}>
        <Time at={alert.lastTriggeredAt} relative />
        {alert.resolvedAt !== null && (
          <span className="numbers">lasted {duration(alertDuration(alert, new Date(alert.resolvedAt)))}</span>
        )}
      </span>
    </li>
  );
}

function Waiting() {
  return (
    <div role="status" aria-label="Loading alerts">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: ten rows that are all the same
        <div key={i} className={classes.waiting}>
          <Skeleton h={14} />
        </div>
      ))}
    </div>
  );
}

/** Latest asks for the alerts of one scope; another scope is another Latest, so that none shows the other's list. */
function Latest({ scope }: { scope: AlertScope }) {
  const { window, servers } = useScope();
  const alerts = api.useQuery(
    "get",
    "/api/v1/alerts",
    {
      params: {
        query: {
          pageSize: rows,
          sort: "-lastTriggeredAt",
          status: "all",
          from: window.from,
          // A preset is open at its end: what fires while the page is looked at belongs to it.
          ...(window.preset === null && { to: window.to }),
          ...scope,
        },
      },
    },
    useCurrent(),
  );
  const shown = useLast(alerts.data, servers);
  const failed = alerts.isError && (
    <div className={classes.failed}>
      <ProblemNote
        error={alerts.error}
        title={`Alerts could not be loaded${shown ? " again" : ""}`}
        onRetry={() => alerts.refetch()}
      />
    </div>
  );
  if (!shown) return failed || <Waiting />;
  return (
    <>
      {failed}
      {shown.items.length === 0 ? (
        <EmptyState title="No alerts in this window">No alert fired during this time.</EmptyState>
      ) : (
        <ul className={classes.list} aria-busy={alerts.isFetching}>
          {shown.items.map((alert) => (
            <Row key={alert.id} alert={alert} />
          ))}
        </ul>
      )}
    </>
  );
}

/** Digest is the ten alerts that fired last, resolved ones too, after the first chart. It asks for none until the filter's names are known. */
export function Digest() {
  const { servers, matchesNothing, search } = useScope();
  const { scope, error, retry } = useAlertScope(servers);
  const heading = useId();
  const body = () => {
    if (matchesNothing) return <NoInstance />;
    if (scope !== null) return <Latest key={JSON.stringify(scope)} scope={scope} />;
    if (error === null) return <Waiting />;
    return (
      <div className={classes.failed}>
        <ProblemNote error={error} title="The names of the selected instances could not be loaded" onRetry={retry} />
      </div>
    );
  };
  return (
    <Paper withBorder component="section" className={classes.digest} aria-labelledby={heading}>
      <div className={classes.head}>
        <Title order={2} size="h3" id={heading}>
          Latest 10 alerts
        </Title>
        <Anchor size="sm" renderRoot={(props) => <Link to="/alerts" search={search} {...props} />}>
          All alerts
        </Anchor>
      </div>
      {body()}
    </Paper>
  );
}
