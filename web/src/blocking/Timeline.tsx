import { Text } from "@mantine/core";
import { type ReactNode, useContext } from "react";
import { serverNow } from "../api/clock";
import { ChangesContext } from "../chart/changes";
import { clockTime, count, duration, shortTime } from "../ui/format";
import classes from "./blocking.module.css";
import { called, type Episode, placeIn, type Sample, type Span, shownAt, spanOf, stepsOf } from "./episode";

type Props = { episode: Episode; samples: Sample[]; chosen: number; onChoose: (n: number) => void };

const hour = 3_600_000;
const lengths = [10, 30, 60, 300, 600, 1_800, 3_600, 7_200, 21_600, 86_400, 604_800].map((s) => 1_000 * s);

/** ticksOf are at most seven round times in a span. */
function ticksOf({ from, to }: Span): number[] {
  const every = lengths.find((length) => (to - from) / length <= 6) ?? (to - from) / 6;
  const out: number[] = [];
  for (let at = Math.ceil(from / every) * every; at <= to; at += every) out.push(at);
  return out;
}

/**
 * Timeline is an episode over time: the root's transaction, of which the part in which it executes nothing is hatched, and
 * how many sessions waited. The line chooses the sample whose tree is shown.
 */
export function Timeline({ episode: e, samples, chosen, onChoose }: Props) {
  const now = e.to === null ? serverNow().getTime() : Date.parse(e.to);
  const span = spanOf(e, now);
  const changes = useContext(ChangesContext);
  const at = samples[chosen]?.at;
  const since = e.root.transactionSince;
  const idle = e.root.idleInTransaction ? e.root.stateSince : null;
  const began = since ?? idle;
  const long = span.to - span.from > 12 * hour;
  const written = (time: number) => (long ? shortTime(new Date(time)) : clockTime(new Date(time)));
  const choose = (time: number) => {
    const next = shownAt(samples, new Date(time).toISOString());
    const after = samples[next + 1];
    const before = samples[next];
    const later = after && before && Date.parse(after.at) - time < time - Date.parse(before.at);
    onChoose(later ? next + 1 : next);
  };
  return (
    <figure className={classes.timeline} aria-label="The episode over time">
      {began && (
        <Row name={called(e.root)} about={since ? "transaction" : "since"}>
          {since && since < (idle ?? "￿") && (
            <span className={classes.works} style={bar(span, since, idle ?? now)} aria-hidden />
          )}
          {idle && (
            <span className={classes.idle} style={bar(span, idle, now)} data-idle>
              <span>idle in transaction, {duration(now - Date.parse(idle))}</span>
            </span>
          )}
          {Date.parse(began) < span.from && <span className={classes.earlier}>since {shortTime(began)}</span>}
        </Row>
      )}
      <Row name="Sessions waiting" about={`at most ${count(e.maxBlocked)}`} tall>
        <svg className={classes.steps} viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden>
          <polygon points={stepsOf(samples, span, e.maxBlocked, now)} />
        </svg>
        {samples.length === 0 && <span className={classes.earlier}>single samples are not kept any more</span>}
      </Row>
      <div className={classes.axis} aria-hidden>
        {ticksOf(span).map((tick) => (
          <span key={tick} style={{ left: `${placeIn(span, tick)}%` }}>
            {written(tick)}
          </span>
        ))}
      </div>
      {at && samples.length > 0 && (
        <div className={classes.over}>
          <span className={classes.line} style={{ left: `${placeIn(span, at)}%` }} aria-hidden>
            <b>{clockTime(at)}</b>
          </span>
          {samples.length > 1 && (
            <input
              type="range"
              className={classes.slider}
              aria-label="Sample"
              aria-valuetext={`${clockTime(at)}, ${count(samples[chosen]?.blocked ?? 0)} waiting`}
              min={span.from}
              max={span.to}
              step={1}
              value={Date.parse(at)}
              onChange={(event) => choose(Number(event.currentTarget.value))}
              onKeyDown={(event) => {
                const steps: Record<string, number> = {
                  ArrowLeft: chosen - 1,
                  ArrowDown: chosen - 1,
                  ArrowRight: chosen + 1,
                  ArrowUp: chosen + 1,
                  Home: 0,
                  End: samples.length - 1,
                };
                const next = steps[event.key];
                if (next === undefined) return;
                event.preventDefault();
                onChoose(Math.min(samples.length - 1, Math.max(0, next)));
              }}
            />
          )}
        </div>
      )}
      {changes && (
        <div className={`${classes.over} ${classes.changes}`}>
          <changes.Flags title="The episode" from={span.from} to={span.to} />
        </div>
      )}
      <Text className="visually-hidden" component="figcaption">
        {e.root.idleInTransaction ? "The root was idle in its transaction. " : ""}
        At most {count(e.maxBlocked)} sessions waited, first at {clockTime(e.peakAt)}.
      </Text>
    </figure>
  );
}

function bar(span: Span, from: string | number, to: string | number) {
  const left = placeIn(span, from);
  return { left: `${left}%`, width: `${Math.max(0.3, placeIn(span, to) - left)}%` };
}

function Row({
  name,
  about,
  tall = false,
  children,
}: {
  name: string;
  about: string;
  tall?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={classes.row}>
      <div className={classes.rowName}>
        <bdi>{name}</bdi>
        <span>{about}</span>
      </div>
      <div className={classes.track} data-tall={tall || undefined}>
        {children}
      </div>
    </div>
  );
}
