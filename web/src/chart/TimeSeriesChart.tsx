import "./chart.css";
import { useContext, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { ChangesContext } from "./changes";
import { cursorGroup } from "./cursor";
import { moveByKey, pickByKey } from "./keys";
import { Legend } from "./Legend";
import { type Model, modelOf, placeOf } from "./model";
import { widest } from "./readout";
import { bucketLabel } from "./times";
import type { ChartProps, ChartSeries, Marker } from "./types";
import { usePlot } from "./usePlot";
import { useReadout } from "./useReadout";

export type { ChartProps, ChartSeries, Marker, Marks, Picked } from "./types";

const none: ReadonlySet<string> = new Set();
const noMarkers: Marker[] = [];

/**
 * TimeSeriesChart draws series over a window: lines, or areas upon each other. null is a gap, 0 is drawn.
 * The cursor (mouse, touch, keys on the focused plot) is shared with the charts of its group; the legend
 * reads out the bucket under it. What changed on the servers (ChangesContext) stands on it as flags.
 */
export function TimeSeriesChart(props: ChartProps) {
  const {
    title,
    group,
    stacked = false,
    height = 200,
    markers = noMarkers,
    hidden = none,
    pickedAt = null,
    marks = null,
    level = null,
  } = props;
  const model = useModel(props, stacked, hidden);
  const changes = useContext(ChangesContext);
  const root = useRef<HTMLElement>(null);
  const slider = useRef<HTMLDivElement>(null);
  const notesId = useId();
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  const plot = usePlot({ root, slider, latest, model, stacked, height, pickedAt, marks });
  useReadout({ root, slider, plot, latest, model, group });
  const widths = useMemo(() => {
    const times = [0, model.starts.length - 1].map((i) => bucketLabel(model.starts[i] ?? model.from, model.bucketSize));
    return { value: widest(model, latest.current.format), time: Math.max(...times.map((t) => t.length)) };
  }, [model]);
  const shown = markers.filter((m) => Date.parse(m.at) >= model.from && Date.parse(m.at) <= model.to);
  const picked = pickedAt === null ? null : placeOf(model, pickedAt);
  return (
    <figure className="chart" ref={root} data-chart aria-label={title}>
      <Legend model={model} widths={widths} onToggle={props.onToggle} />
      <div className="chart-plot" style={{ height }}>
        <div
          ref={slider}
          className="chart-slider"
          role="slider"
          tabIndex={0}
          aria-label={`${title}, bucket`}
          aria-describedby={
            shown.length + model.bands.length > 0 || model.level !== null || marks || props.onPick ? notesId : undefined
          }
          aria-valuemin={0}
          aria-valuemax={Math.max(0, model.starts.length - 1)}
          aria-valuenow={Math.max(0, model.idle)}
          style={{ height }}
          onKeyDown={(event) => {
            moveByKey(event, model, group);
            if (props.onPick) pickByKey(event, model, group, props.onPick);
          }}
          onBlur={() => cursorGroup(group).set(null)}
        />
        <div id={notesId}>
          {model.bands.map(({ label, top }) => (
            <div key={label} className="chart-band" data-height={top}>
              {label}
            </div>
          ))}
          {level && model.level !== null && (
            <div className="chart-level" data-height={model.level}>
              <span>{level.label}</span>
            </div>
          )}
          {shown.map((m) => (
            <div key={`${m.at} ${m.label}`} className="chart-marker" data-at={Date.parse(m.at)}>
              <span>{m.label}</span>
            </div>
          ))}
          {marks && <span className="visually-hidden">{marks.label}</span>}
          {props.onPick && <span className="visually-hidden">Enter shows who is behind the bucket</span>}
        </div>
        {marks?.marks.map(({ at, tone, hollow, label }) => (
          <div
            key={`${at} ${hollow}`}
            className="chart-marker chart-mark"
            data-at={at}
            data-tone={tone}
            data-hollow={hollow || undefined}
            aria-hidden
          >
            <i title={label} />
          </div>
        ))}
        {picked !== null && <div className="chart-marker chart-picked" data-at={picked} />}
        {changes && <changes.Flags title={title} from={model.from} to={model.to} />}
      </div>
    </figure>
  );
}

/** useModel prepares the figures anew only when an answer, the window or the shown series change. */
function useModel(props: ChartProps, stacked: boolean, hidden: ReadonlySet<string>): Model {
  const series = useStable(props.series);
  const { bucketStarts, bucketSize, lastBucketPartial, generatedAt, bands, upTo } = props;
  const level = props.level?.value;
  const { from, to } = props.window;
  return useMemo(
    () =>
      modelOf({
        window: { from, to },
        bucketSize,
        bucketStarts,
        lastBucketPartial,
        generatedAt,
        series,
        stacked,
        hidden,
        bands,
        upTo,
        level,
      }),
    [from, to, bucketSize, bucketStarts, lastBucketPartial, generatedAt, series, stacked, hidden, bands, upTo, level],
  );
}

/** useStable is the same array as long as its series are the same, though their objects be new ones. */
function useStable(series: ChartSeries[]): ChartSeries[] {
  const [kept, keep] = useState(series);
  if (kept === series || (kept.length === series.length && kept.every((s, i) => sameSeries(s, series[i])))) return kept;
  keep(series);
  return series;
}

const sameSeries = (a: ChartSeries, b: ChartSeries | undefined) =>
  a.key === b?.key &&
  a.label === b.label &&
  a.color === b.color &&
  a.hint === b.hint &&
  a.values === b.values &&
  a.before === b.before;
