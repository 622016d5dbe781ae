import { ActionIcon, Anchor, Button, FocusTrap, NativeSelect, Skeleton, Title } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconChevronLeft, IconChevronRight, IconLink, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { SeverityBadge } from "../alerts/badges";
import { api, type Schemas } from "../api/client";
import { serverNow } from "../api/clock";
import { asProblem } from "../api/problem";
import { useSession } from "../api/session";
import { EpisodeLine } from "../blocking/EpisodeLine";
import { cursorGroup } from "../chart/cursor";
import { copy } from "../shell/clipboard";
import { titleOf } from "../statements/query";
import { NoTexts } from "../statements/Texts";
import { EmptyState } from "../ui/EmptyState";
import { count, measuredEngines, plural, shortTime } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { useScope } from "../window/scope";
import { useCurrent } from "./asking";
import {
  keyName,
  lengthOf,
  movedBy,
  namedOf,
  notKeptSince,
  offeredKeys,
  shownOf,
  soFar,
  type Tile,
  windowAround,
} from "./contributors";
import { useAlertScope, useFleet } from "./fleet";
import { NoInstance } from "./NoValues";
import { latency, percent, spanText } from "./units";
import { type Figure, type Key, useWho, type Who } from "./who";
import classes from "./who.module.css";

type Answer = Schemas["Contributors"];
/** Of a time that is there. */
type Span = { from: string; to: string };

const clip = () => copy(location.href, "The link to this panel was copied.");

/** useReturn gives the focus back to the chart (or the card) that the panel is about, with the cursor where it was. */
function useReturn(title: string, from: string | undefined) {
  const latest = useRef({ title, from });
  useEffect(() => {
    latest.current = { title, from };
  });
  useEffect(
    () => () => {
      // What was in the panel has lost it; what is elsewhere keeps it.
      if (document.activeElement !== document.body) return;
      const { title, from } = latest.current;
      const chart = document.querySelector<HTMLElement>(`figure[aria-label="${title}"] [role="slider"]`);
      (chart ?? document.querySelector<HTMLElement>(`[data-who="${title}"]`))?.focus({ preventScroll: true });
      if (chart && from) cursorGroup("dashboard").set(Date.parse(from));
    },
    [],
  );
}

/** WhoPanel is who is behind the figure that was clicked, and the alerts of that time, as the address says. */
export function WhoPanel({ who }: { who: Who }) {
  const { show } = useWho();
  const { window, matchesNothing } = useScope();
  const narrow = useMediaQuery("(max-width: 74.99em)", false, { getInitialValueInEffect: false });
  const heading = useRef<HTMLHeadingElement>(null);
  const { tile } = shownOf(who.figure);
  const { title } = tile;
  useReturn(title, who.from);
  const span = who.from && who.to ? { from: who.from, to: who.to } : null;
  const subject = `${title} ${span?.from} ${span?.to}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the heading is read anew whenever something else was clicked
  useEffect(() => heading.current?.focus({ preventScroll: true }), [subject]);
  const close = () => show(null);
  const later = movedBy(who, 1);
  const now = serverNow().toISOString();
  const whole = span !== null && span.from === window.from && span.to === window.to;
  return (
    <>
      {narrow && <div className={classes.shade} onPointerDown={close} aria-hidden />}
      <FocusTrap active={narrow}>
        <section
          className={classes.panel}
          role="dialog"
          aria-modal={narrow || undefined}
          aria-label={`Breakdown: ${title}`}
          onKeyDown={(event) => {
            if (event.key !== "Escape" || event.defaultPrevented) return;
            event.preventDefault();
            event.stopPropagation();
            close();
          }}
        >
          <div className={classes.top}>
            <Title order={2} ref={heading} tabIndex={-1} data-autofocus className={classes.title}>
              Breakdown
            </Title>
            <ActionIcon variant="default" size="md" aria-label="Copy the link to this panel" onClick={clip}>
              <IconLink size={16} aria-hidden />
            </ActionIcon>
            <ActionIcon variant="default" size="md" aria-label="Close" onClick={close}>
              <IconX size={16} aria-hidden />
            </ActionIcon>
          </div>
          {span && (
            <div className={classes.span}>
              <ActionIcon variant="default" aria-label="Earlier" onClick={() => show(movedBy(who, -1), true)}>
                <IconChevronLeft size={16} aria-hidden />
              </ActionIcon>
              <span className="numbers">{spanText(span)}</span>
              <ActionIcon
                variant="default"
                aria-label="Later"
                disabled={(later.from ?? "") >= now}
                onClick={() => show(later, true)}
              >
                <IconChevronRight size={16} aria-hidden />
              </ActionIcon>
              {!whole && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  ml="auto"
                  onClick={() => show({ ...who, from: window.from, to: window.to })}
                >
                  Whole window
                </Button>
              )}
            </div>
          )}
          {matchesNothing ? (
            <NoInstance />
          ) : (
            <>
              <Choices tile={tile} who={who} onChange={(next) => show(next, true)} />
              <Behind who={who} span={span} onBy={(by) => show({ ...who, by }, true)} />
              {span && title === "Wait events" && <ToActivity span={span} />}
              {span && title === "Wait events" && <BlockingThen span={span} />}
              {span && title !== "Alert history" && <AlertsThen span={span} />}
            </>
          )}
        </section>
      </FocusTrap>
    </>
  );
}

/** useKeys is what a figure may be told apart by, and what it is by now. */
function useKeys({ figure, by }: Who): { keys: Key[]; by: Key } {
  const keys = offeredKeys(figure, useSession().role !== "viewer");
  return { keys, by: keys.find((key) => key === by) ?? (keys[0] as Key) };
}

function Choices({ tile, who, onChange }: { tile: Tile; who: Who; onChange: (next: Who) => void }) {
  const { keys, by } = useKeys(who);
  return (
    <div className={classes.choices}>
      <NativeSelect
        label={tile.title}
        size="xs"
        value={who.figure}
        data={tile.figures.map(({ figure, label }) => ({ value: figure, label }))}
        onChange={(event) => onChange({ ...who, figure: event.currentTarget.value as Figure, by: undefined })}
      />
      <NativeSelect
        label="By"
        size="xs"
        value={by}
        data={keys.map((key) => ({ value: key, label: keyName(key, false) }))}
        onChange={(event) => onChange({ ...who, by: event.currentTarget.value as Key })}
      />
    </div>
  );
}

function Waiting() {
  return (
    <div role="status" aria-label="Loading the breakdown" className={classes.waiting}>
      {[70, 45, 30, 20].map((width) => (
        <div key={width}>
          <Skeleton h={14} w={`${width}%`} mb={8} />
          <Skeleton h={6} />
        </div>
      ))}
    </div>
  );
}

/** Behind is the figure, the ranked contributors, and the rest of them. */
function Behind({ who, span, onBy }: { who: Who; span: Span | null; onBy: (by: Key) => void }) {
  const { tile, label, series } = shownOf(who.figure);
  const { keys, by } = useKeys(who);
  const { servers } = useScope();
  const current = useCurrent();
  const query = { ...span, series, by, ...servers };
  const asked = api.useQuery("get", tile.path, { params: { query: query as never } }, span === null ? current : {});
  const answer = asked.data;
  const since = asked.isError ? notKeptSince(asProblem(asked.error).errors) : null;
  // Of single databases and statements less is kept than of servers.
  const other = keys.includes("instance") ? "instance" : (keys[0] as Key);
  const failed = asked.isError && since === null && (
    <div className={classes.pad}>
      <ProblemNote
        error={asked.error}
        title={`The breakdown could not be read${answer ? " again" : ""}`}
        onRetry={() => asked.refetch()}
      />
    </div>
  );
  if (since !== null) {
    return (
      <div role="status">
        <EmptyState
          title={`Not kept by ${keyName(by, false)} for this time`}
          action={
            other !== by && (
              <Button size="xs" variant="default" onClick={() => onBy(other)}>
                Show by {keyName(other, false)}
              </Button>
            )
          }
        >
          It is kept since {shortTime(since)}.
        </EmptyState>
      </div>
    );
  }
  return (
    <>
      <div className="visually-hidden" role="status">
        {answer && said(label, tile, answer, by)}
      </div>
      {failed}
      {answer ? <Ranked tile={tile} answer={answer} by={by} asked={span} /> : !asked.isError && <Waiting />}
    </>
  );
}

/** said is the answer for whoever hears it: the figure, and the first of those behind it. */
function said(label: string, tile: Tile, answer: Answer, by: Key): string {
  const first = answer.items[0];
  if (answer.total === null || !first) return `${label}: no data in this time`;
  const many = answer.items.length + answer.others.count;
  const part = first.share === null ? "" : `, ${percent(100 * first.share)}`;
  return `${label} ${tile.format(answer.total)}, ${count(many)} ${keyName(by, many !== 1)}. First: ${namedOf(by, first, []).title} ${tile.format(first.value)}${part}`;
}

const idOf = ({ instance, database, host, mount, category, statement, alert, name }: Schemas["Contributor"]) =>
  [alert?.id, statement?.id, database?.id, instance?.id, host, mount, category, name].join(" ");

function Ranked({ tile, answer, by, asked }: { tile: Tile; answer: Answer; by: Key; asked: Span | null }) {
  const fleet = useFleet(by === "host" || by === "volume").data ?? [];
  const { format } = tile;
  const { items, others, total, coverage } = answer;
  const used = { from: answer.from, to: answer.to };
  const partial = asked && soFar(asked, answer.generatedAt);
  const widened =
    asked && (Date.parse(asked.from) !== Date.parse(used.from) || Date.parse(asked.to) !== Date.parse(used.to));
  const incomplete = answer.incomplete && (
    <p className={classes.incomplete} role="alert">
      Incomplete: a database engine could not be read, and its share is missing here.
    </p>
  );
  if (items.length === 0 || total === null) {
    return (
      <>
        {incomplete}
        <EmptyState title="No data in this time">There are no measurements in this time.</EmptyState>
      </>
    );
  }
  return (
    <>
      <div className={classes.total}>
        <span className={classes.figure} data-who-total>
          {format(total)}
        </span>
        <span className={classes.about}>
          {partial && <>{partial} · </>}
          {widened && <>over {spanText(used)} · </>}
          {measuredEngines(answer)}
        </span>
      </div>
      {incomplete}
      <ol className={classes.list} aria-label={`Ranked ${keyName(by, true)}`}>
        {items.map((item, at) => (
          <Row
            key={idOf(item)}
            by={by}
            item={item}
            rank={at + 1}
            length={lengthOf(answer, at)}
            format={format}
            fleet={fleet}
            used={asked && used}
          />
        ))}
      </ol>
      {others.count > 0 && (
        <div className={classes.others} data-who-others>
          <span>
            {count(others.count)} other {keyName(by, others.count !== 1)}
          </span>
          <span className="numbers">
            {others.value !== null && format(others.value)}
            {others.share !== null && ` · ${percent(100 * others.share)}`}
          </span>
        </div>
      )}
      {tile.title === "Query performance" && <Coverage coverage={coverage} />}
      {by === "statement" && !items.some(({ statement }) => statement?.text) && <NoTexts />}
    </>
  );
}

/** Coverage is how much of the time in which servers executed their statements explain, where any of them can tell. */
function Coverage({ coverage }: { coverage: Answer["coverage"] }) {
  if (!coverage) {
    return (
      <p className={classes.note} data-coverage>
        No server here reports its execution time, so the share explained by statements is not known.
      </p>
    );
  }
  const { share, attributedMs, busyMs, instances } = coverage;
  return (
    <div className={classes.note} data-coverage>
      <div className={classes.bar} aria-hidden>
        <span style={{ width: `${Math.min(100, 100 * share)}%` }} />
      </div>
      Statements explain {percent(100 * share)} of the time that{" "}
      {instances === 1 ? "one server says it was" : `${count(instances)} servers say they were`} executing:{" "}
      {latency(attributedMs)} of {latency(busyMs)}. Servers that cannot tell are left out.
    </div>
  );
}

type RowProps = {
  by: Key;
  item: Schemas["Contributor"];
  rank: number;
  length: number;
  format: (value: number) => string;
  fleet: Schemas["Instance"][];
  /** Null of what is of this moment. */
  used: Span | null;
};

function Row({ by, item, rank, length, format, fleet, used }: RowProps) {
  const { search } = useScope();
  const { title, where, instances } = namedOf(by, item, fleet);
  const figures = [
    item.share !== null && percent(100 * item.share),
    item.calls !== null && plural(Math.round(item.calls), "call"),
  ].filter((text) => text !== false);
  const place = where && item.statement && instances.length > 0;
  return (
    <li className={classes.row} data-who-row>
      <span className={classes.rank} aria-hidden>
        {rank}
      </span>
      <span className={classes.name}>
        {item.statement ? (
          <ToStatement statement={item.statement} used={used} />
        ) : item.alert ? (
          <Anchor
            inherit
            renderRoot={(props) => (
              <Link to="/alerts/$alertId" params={{ alertId: item.alert?.id ?? "" }} search={search} {...props} />
            )}
          >
            <bdi>{title}</bdi>
          </Anchor>
        ) : (
          <Narrow instances={instances} used={used} title={title}>
            <bdi>{title}</bdi>
          </Narrow>
        )}
        {item.instance?.removed && <span className={classes.removed}>removed</span>}
      </span>
      <span className={classes.value} data-who-value>
        {item.alert ? <SeverityBadge severity={item.alert.severity} /> : format(item.value)}
      </span>
      {(where || item.share !== null || item.calls !== null) && (
        <span className={classes.where}>
          {place && (
            <>
              <Narrow instances={instances} used={used} title={where} className={classes.target}>
                <bdi>{where}</bdi>
              </Narrow>
              {figures.length > 0 && " · "}
            </>
          )}
          {[!place && where, ...figures].filter(Boolean).join(" · ")}
        </span>
      )}
      <span className={classes.bar} aria-hidden>
        <span style={{ width: `${Math.max(0.5, 100 * length)}%` }} />
      </span>
    </li>
  );
}

/** ToStatement leads to the statement's page, around that time: by its text's first line, or a short id. */
function ToStatement({
  statement: { id, text },
  used,
}: {
  statement: { id: string; text: string | null };
  used: Span | null;
}) {
  const { search } = useScope();
  const [now] = useState(serverNow);
  return (
    <Anchor
      inherit
      className={classes.target}
      renderRoot={(props) => (
        <Link
          to="/statements/$statementId"
          params={{ statementId: id }}
          search={{ ...search, ...(used && { range: undefined, ...windowAround(used.from, used.to, now) }) }}
          {...props}
        />
      )}
    >
      <bdi className={text ? classes.statement : undefined} dir={text ? "ltr" : undefined}>
        {titleOf({ id, text })}
      </bdi>
    </Anchor>
  );
}

/** Narrow leads to the dashboard of those servers alone, around that time, with the rest of the address as it is. */
function Narrow({
  instances,
  used,
  title,
  className,
  children,
}: {
  instances: { id: string }[];
  used: Span | null;
  title: string;
  className?: string;
  children: ReactNode;
}) {
  const [now] = useState(serverNow);
  if (instances.length === 0) return children;
  const window = used && windowAround(used.from, used.to, now);
  const ids = instances.map(({ id }) => id);
  return (
    <Anchor
      inherit
      className={className}
      aria-label={`${title}: only ${plural(ids.length, "this instance", "these instances").replace(/^1 /, "")}${window ? `, ${spanText(window)}` : ""}`}
      renderRoot={(props) => (
        <Link
          from="/"
          to="/"
          resetScroll={false}
          search={(here) => ({ ...here, instanceId: ids, ...(window && { range: undefined, ...window }) })}
          {...props}
        />
      )}
    >
      {children}
    </Anchor>
  );
}

/** ToActivity leads to what sessions did in that time, by every dimension. */
function ToActivity({ span }: { span: Span }) {
  const { search } = useScope();
  return (
    <div className={classes.pad}>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link to="/activity" search={{ ...search, pickedFrom: span.from, pickedTo: span.to }} {...props} />
        )}
      >
        Activity in this time
      </Anchor>
    </div>
  );
}

const listed = 5;

/** BlockingThen is who held up whom in that time. */
function BlockingThen({ span }: { span: Span }) {
  const { servers, search } = useScope();
  const blocking = api.useQuery("get", "/api/v1/blocking", {
    params: { query: { pageSize: listed, ...span, ...servers } },
  });
  const total = blocking.data?.page.totalItems ?? 0;
  return (
    <section className={classes.alerts} aria-label="Blocking in this time">
      <h3 className={classes.alertsTitle}>Blocking in this time</h3>
      {blocking.isError ? (
        <ProblemNote error={blocking.error} title="Blocking could not be loaded" onRetry={() => blocking.refetch()} />
      ) : !blocking.data ? (
        <Skeleton h={14} w="60%" />
      ) : total === 0 ? (
        <p className={classes.about}>No sample shows a session that waited for another one.</p>
      ) : (
        blocking.data.items.map((e) => <EpisodeLine key={e.id} episode={e} server />)
      )}
      {total > listed && (
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/blocking" search={{ ...search, range: undefined, ...span }} {...props} />}
        >
          All {count(total)} episodes of this time
        </Anchor>
      )}
    </section>
  );
}

/** AlertsThen is the alerts that fired last in that time. */
function AlertsThen({ span }: { span: Span }) {
  const { servers, search } = useScope();
  const { scope, error, retry } = useAlertScope(servers);
  const alerts = api.useQuery(
    "get",
    "/api/v1/alerts",
    { params: { query: { pageSize: listed, sort: "-lastTriggeredAt", status: "all", ...span, ...scope } } },
    { enabled: scope !== null },
  );
  const total = alerts.data?.page.totalItems ?? 0;
  const failure = error ?? (alerts.isError ? alerts.error : null);
  return (
    <section className={classes.alerts} aria-label="Alerts that fired last in this time">
      <h3 className={classes.alertsTitle}>Alerts that fired last in this time</h3>
      {failure !== null ? (
        <ProblemNote
          error={failure}
          title="Alerts could not be loaded"
          onRetry={error ? retry : () => alerts.refetch()}
        />
      ) : !alerts.data ? (
        <Skeleton h={14} w="60%" />
      ) : total === 0 ? (
        <p className={classes.about}>None.</p>
      ) : (
        <ul className={classes.alertList}>
          {alerts.data.items.map((alert) => (
            <li key={alert.id}>
              <SeverityBadge severity={alert.severity} />
              <span className={classes.alert}>
                <Anchor
                  size="sm"
                  renderRoot={(props) => (
                    <Link to="/alerts/$alertId" params={{ alertId: alert.id }} search={search} {...props} />
                  )}
                >
                  {alert.title}
                </Anchor>
                <span className={classes.about}>
                  {alert.instance?.name} <Time at={alert.lastTriggeredAt} />
                </span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {total > listed && (
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link to="/alerts" search={{ ...search, range: undefined, ...span, status: "all" }} {...props} />
          )}
        >
          All {count(total)} alerts of this time
        </Anchor>
      )}
    </section>
  );
}
