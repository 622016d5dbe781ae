import { Badge, Skeleton, Tooltip } from "@mantine/core";
import { IconClockExclamation } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { onServer } from "../api/clock";
import { engineName } from "../engines";
import { absoluteTime, ago, count, plural } from "../ui/format";
import { NotKnown } from "../ui/NotKnown";
import { useNow } from "../ui/now";
import { ProblemNote } from "../ui/ProblemNote";
import { useScope } from "../window/scope";
import { useCurrent } from "./asking";
import { Blocked } from "./Blocked";
import classes from "./dashboard.module.css";
import { useWho } from "./who";

type Snapshot = Schemas["Connections"];

/** A sample that is older than this when the server answers, or says that nothing has changed, is the newest it has. */
const staleAfter = 2 * 60_000;

const nothing: Snapshot = {
  asOf: "",
  sampledAt: null,
  total: 0,
  active: 0,
  idle: 0,
  waiting: 0,
  idleInTransaction: 0,
  other: 0,
  instancesWithoutSample: 0,
  engines: [],
  partialEngines: [],
  incomplete: false,
  unavailable: [],
};

/**
 * Sampled says how old the oldest sample is, by the server's clock and the time since its answer. Stale it is only by
 * what the server said: that this page has not asked for a while says nothing about the sample.
 */
function Sampled({ snapshot, answeredAt }: { snapshot: Snapshot; answeredAt: number }) {
  const now = useNow(1_000);
  if (snapshot.sampledAt === null) return null;
  const sampled = Date.parse(snapshot.sampledAt);
  // Not asOf: that is of the first of all answers that were the same.
  const ageThen = onServer(answeredAt) - sampled;
  const age = Math.max(0, ageThen + Math.max(0, now.getTime() - onServer(answeredAt)));
  return (
    <>
      {ageThen > staleAfter && (
        <Badge size="sm" radius="sm" variant="default" leftSection={<IconClockExclamation size={12} aria-hidden />}>
          stale
        </Badge>
      )}
      <Tooltip label={absoluteTime(snapshot.sampledAt)} withArrow>
        <time dateTime={snapshot.sampledAt} className="numbers">
          sampled {ago(new Date(sampled), new Date(sampled + age))}
        </time>
      </Tooltip>
    </>
  );
}

function Split({ name, value }: { name: string; value: number | null }) {
  return (
    <div className={classes.split}>
      <dt className={classes.splitName}>{name}</dt>
      <dd className={classes.digits}>{value === null ? <NotKnown inherit /> : count(value)}</dd>
    </div>
  );
}

function Sessions({ snapshot, answeredAt, known }: { snapshot: Snapshot; answeredAt: number; known: boolean }) {
  const { search } = useScope();
  const { instancesWithoutSample: without } = snapshot;
  return (
    <>
      <dl className={classes.splits}>
        <Split name="active" value={known ? snapshot.active : null} />
        <Split name="idle" value={known ? snapshot.idle : null} />
        <Split name="waiting" value={known ? snapshot.waiting : null} />
      </dl>
      <div className={classes.under}>
        <span className="numbers">
          {known ? (
            <>
              {count(snapshot.total)} total, {count(snapshot.idleInTransaction)} idle in transaction,{" "}
              {count(snapshot.other)} other
              {snapshot.partialEngines.length > 0 && `; ${snapshot.partialEngines.map(engineName).join(", ")} in part`}
              {without !== null && without > 0 && `; ${plural(without, "server")} without a sample`}
              {snapshot.incomplete && "; incomplete: an engine could not be read"}
            </>
          ) : snapshot.incomplete ? (
            "Not available right now: an engine could not be read"
          ) : without !== null && without > 0 ? (
            `Not known: ${plural(without, "server")} without a sample`
          ) : (
            "Not known: no server here is measured for connections"
          )}
        </span>
        <span className={classes.sampled}>
          <Link to="/activity" search={{ ...search, idle: "include" }} className={classes.way}>
            Activity
          </Link>
          <Sampled snapshot={snapshot} answeredAt={answeredAt} />
        </span>
      </div>
    </>
  );
}

/** Connections is the snapshot of open client sessions, split so that the parts add up to the total. */
export function Connections() {
  const { servers, matchesNothing } = useScope();
  const { show } = useWho();
  const snapshot = api.useQuery(
    "get",
    "/api/v1/metrics/connections",
    { params: { query: servers } },
    { enabled: !matchesNothing, ...useCurrent() },
  );
  const shown = matchesNothing ? nothing : snapshot.data;
  return (
    <section
      className={`${classes.card} ${classes.connections}`}
      aria-label="Connections"
      aria-busy={snapshot.isFetching}
      data-kpi="connections"
    >
      <button
        type="button"
        className={`${classes.label} ${classes.whole}`}
        aria-haspopup="dialog"
        data-who="Connections"
        disabled={matchesNothing}
        onClick={() => show({ figure: "total" })}
      >
        Connections
      </button>
      <Blocked />
      {snapshot.isError && (
        <ProblemNote
          error={snapshot.error}
          title={`Connections could not be counted${shown ? " again" : ""}`}
          onRetry={() => snapshot.refetch()}
        />
      )}
      {shown ? (
        <Sessions
          snapshot={shown}
          answeredAt={snapshot.dataUpdatedAt}
          // 0 is what was measured, or what a filter that matches nothing has.
          known={matchesNothing || shown.sampledAt !== null}
        />
      ) : (
        !snapshot.isError && (
          <>
            <Skeleton className={classes.digitsWaiting} />
            <Skeleton className={classes.trendWaiting} />
          </>
        )
      )}
    </section>
  );
}
