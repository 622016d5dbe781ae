import { Skeleton } from "@mantine/core";
import { IconArrowDownRight, IconArrowUpRight, IconEqual } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { count } from "../ui/format";
import { NotKnown } from "../ui/NotKnown";
import { ProblemNote } from "../ui/ProblemNote";
import { useScope } from "../window/scope";
import { Connections } from "./Connections";
import classes from "./dashboard.module.css";
import { useOverview } from "./overview";
import { alertTone, type Tone, trendWords } from "./trend";

const none: Schemas["Count"] = { current: 0, previous: 0, trend: 0 };

function Trend({ trend, tone }: { trend: number; tone: Tone }) {
  const Icon = trend === 0 ? IconEqual : trend > 0 ? IconArrowUpRight : IconArrowDownRight;
  return (
    <span className={classes.trend} data-tone={tone}>
      <Icon size={14} className={classes.arrow} aria-hidden />
      <span>{trendWords(trend)}</span>
    </span>
  );
}

const spoken = (name: string, value: Schemas["Count"] | null) =>
  value ? `${name} ${count(value.current)}, ${trendWords(value.trend)}` : `${name} not available right now`;

type FigureProps = { name: string; value: Schemas["Count"] | null; tone: Tone; note?: string };

/** Figure is a count; `note` says what is counted where the name alone could mean something else. */
function Figure({ name, value, tone, note }: FigureProps) {
  return (
    <>
      <span className={classes.label} data-note={note}>
        {name}
      </span>{" "}
      <span className={classes.digits} data-digits>
        {value ? count(value.current) : <NotKnown inherit />}
      </span>{" "}
      {value ? (
        <Trend trend={value.trend} tone={tone} />
      ) : (
        <span className={classes.trend}>not available right now</span>
      )}
    </>
  );
}

function Waiting({ name }: { name: string }) {
  return (
    <div className={classes.card} role="status" aria-label={`Loading ${name.toLowerCase()}`}>
      <span className={classes.label}>{name}</span>
      <Skeleton className={classes.digitsWaiting} />
      <Skeleton className={classes.trendWaiting} />
    </div>
  );
}

/** Counts are the three numbers of the overview. They ignore the window, and so does the list the alerts lead to. */
function Counts() {
  const { filter, matchesNothing } = useScope();
  const overview = useOverview();
  const failed = overview.isError && (
    <div className={classes.failedCounts}>
      <ProblemNote
        error={overview.error}
        title={`Instances, databases and alerts could not be counted${overview.data ? " again" : ""}`}
        onRetry={() => overview.refetch()}
      />
    </div>
  );
  const counts = matchesNothing ? { instances: none, databases: none, alerts: none } : overview.data;
  if (!counts && failed) return failed;
  if (!counts) return ["Instances", "Databases", "Alerts"].map((name) => <Waiting key={name} name={name} />);
  return (
    <>
      {failed}
      <Link
        to="/instances"
        className={classes.card}
        aria-label={spoken("Instances", counts.instances)}
        aria-busy={overview.isFetching}
        data-kpi="instances"
      >
        <Figure name="Instances" value={counts.instances} tone="neutral" />
      </Link>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is of a form; this is a figure that is read as one */}
      <div
        className={classes.card}
        role="group"
        aria-label={spoken("Databases", counts.databases)}
        aria-busy={overview.isFetching}
        data-kpi="databases"
      >
        <Figure name="Databases" value={counts.databases} tone="neutral" />
      </div>
      <Link
        to="/alerts"
        search={{ status: "open", muted: "exclude", ...filter }}
        className={classes.card}
        aria-label={spoken("Alerts", counts.alerts)}
        aria-busy={overview.isFetching}
        data-kpi="alerts"
      >
        <Figure
          name="Alerts"
          note="open now"
          value={counts.alerts}
          tone={counts.alerts ? alertTone(counts.alerts.trend) : "neutral"}
        />
      </Link>
    </>
  );
}

/** Kpis is the strip of what is so now, whatever the window: three counts and the open connections. */
export function Kpis() {
  return (
    <section className={classes.strip} aria-label="Key figures">
      <Counts />
      <Connections />
    </section>
  );
}
