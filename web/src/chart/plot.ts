import uPlot from "uplot";
import { noteDrawn } from "./first";
import type { Look } from "./look";
import { lonely, type Model } from "./model";
import { paintBefore, paintDays, paintHatch, paintTail } from "./paint";
import { axisLabels } from "./times";

/** PlotState is what a plot reads whenever it draws; all but the number of series may change. */
export type PlotState = {
  model: Model;
  look: Look;
  stacked: boolean;
  format: (value: number) => string;
};

/** Plot is the canvas of one chart. */
export type Plot = {
  u: uPlot;
  /** Draws other figures. */
  show: (model: Model) => void;
  /** Draws the same again, as in other colours. */
  redraw: () => void;
  resize: (width: number) => void;
  /** Puts the vertical line and the points on a bucket; null takes them away. */
  cursor: (index: number | null) => void;
  /** Shades the buckets from one to another while they are dragged over; null takes the shade away. */
  select: (buckets: readonly [number, number] | null) => void;
  destroy: () => void;
};

const font = '11px "Inter Variable", system-ui, sans-serif';
const unbound = () => null;
const line = uPlot.paths.linear?.() as uPlot.Series.PathBuilder;

/** columnOf is the model's column that uPlot's n-th series draws: stacks are painted from the top down. */
const columnOf = (state: PlotState, n: number) => (state.stacked ? state.model.series.length - n : n - 1);

const columns = (state: PlotState): uPlot.AlignedData =>
  [
    state.model.xs,
    ...state.model.series.map((_, i) => state.model.drawn[columnOf(state, i + 1)] ?? []),
  ] as unknown as uPlot.AlignedData; // uPlot's type demands mutable arrays; it does not write to them

/** newPlot draws a chart into an element, and tells each time where things are. */
export function newPlot(
  host: HTMLElement,
  state: PlotState,
  { width, height, onDraw }: { width: number; height: number; onDraw: (u: uPlot) => void },
): Plot {
  let pointed: number | null = null;
  // Where a bucket is on the canvas is known once that has its scale and size, and again when these have changed.
  const point = (u: uPlot) => {
    const at = pointed === null ? undefined : state.model.xs[pointed];
    u.setCursor(at === undefined ? { left: -10, top: -10 } : { left: u.valToPos(at, "x"), top: 0 }, false);
  };
  const options: uPlot.Options = {
    width,
    height,
    ms: 1,
    legend: { show: false },
    // On the right, half a label of the x axis.
    padding: [6, 20, null, null],
    series: [{}, ...state.model.series.map((_, i) => seriesOf(state, i + 1))],
    scales: {
      x: { time: true, auto: false, range: () => [state.model.from, state.model.to] },
      // The model has made heights of the values, and its ticks with them: there is no scale here to be out of date.
      y: { auto: false, range: [0, 1] },
    },
    axes: [xAxis(state), yAxis(state)],
    cursor: {
      y: false,
      drag: { setScale: false, x: false, y: false },
      // Pointers are ours: pointer.ts.
      bind: {
        mousedown: unbound,
        mouseup: unbound,
        click: unbound,
        dblclick: unbound,
        mousemove: unbound,
        mouseleave: unbound,
        mouseenter: unbound,
      },
      points: {
        size: 8,
        width: 2,
        stroke: (_, n) => state.look.lines[columnOf(state, n)] ?? "",
        fill: () => state.look.background,
      },
    },
    hooks: {
      ready: [point],
      setSize: [(u) => u.status === 1 && point(u)],
      drawAxes: [
        (u) => {
          paintDays(u, state.model, state.look);
          if (!state.stacked) paintBefore(u, state.model, state.look);
        },
      ],
      drawSeries: [(u, n) => n !== null && tail(u, state, n)],
      draw: [
        (u) => {
          if (state.stacked) paintBefore(u, state.model, state.look);
          paintHatch(u, state.model, state.look);
          onDraw(u);
          noteDrawn();
        },
      ],
    },
  };
  const u = new uPlot(options, columns(state), host);
  return {
    u,
    show: (model) => {
      if (model === state.model) return;
      state.model = model;
      // All at once, so that whoever asks next where a bucket is asks the new scale. The axes too: left to itself, uPlot
      // keeps the labels of a scale whose ends are the same.
      u.batch(() => {
        u.setData(columns(state), false);
        u.redraw(true, true);
      });
    },
    redraw: () => u.redraw(false, true),
    resize: (next) => next > 0 && next !== u.width && u.setSize({ width: next, height }),
    cursor: (index) => {
      pointed = index;
      if (u.status === 1) point(u);
    },
    select: (buckets) => u.setSelect(shadeOf(u, state.model, buckets), false),
    destroy: () => u.destroy(),
  };
}

function seriesOf(state: PlotState, n: number): uPlot.Series {
  const column = columnOf(state, n);
  const stroke = () => state.look.lines[column] ?? "";
  const fill = state.stacked
    ? () => state.look.areas[column] ?? ""
    : () => (state.model.series.length === 1 ? (state.look.soft[column] ?? "") : "transparent");
  // The segment that leads to a partial bucket is dashed, and painted apart.
  const solidUpTo = () => state.model.starts.length - (state.model.partial ? 2 : 1);
  return {
    stroke,
    fill: state.stacked || state.model.series.length === 1 ? fill : undefined,
    width: 1.5,
    auto: false,
    paths: (u, i, from, to) => line(u, i, from, Math.max(from, Math.min(to, solidUpTo()))),
    points: {
      show: true,
      size: 5,
      width: 0,
      fill: stroke,
      filter: () => pointsOf(state.model, column),
    },
  };
}

/** pointsOf are the values that no line leads to; one alone in a partial bucket is among them. */
function pointsOf(model: Model, column: number): number[] {
  return lonely(model.drawn[column] ?? [], model.starts.length - 1);
}

function tail(u: uPlot, state: PlotState, n: number) {
  const column = columnOf(state, n);
  const fill = state.stacked ? state.look.pale[column] : undefined;
  paintTail(u, state.model, column, state.look.lines[column] ?? "", fill ?? null);
}

function xAxis(state: PlotState): uPlot.Axis {
  return {
    stroke: () => state.look.text,
    font,
    space: 68,
    // A second line for dates, where there is one.
    size: (_u, labels) => (labels?.some((label) => label.includes("\n")) ? 40 : 26),
    gap: 4,
    lineGap: 1.3,
    values: (_u, ticks, _axis, _space, apart) => axisLabels(ticks, apart),
    grid: { show: false },
    ticks: { stroke: () => state.look.grid, width: 1, size: 4 },
    border: { show: true, stroke: () => state.look.grid, width: 1 },
  };
}

function yAxis(state: PlotState): uPlot.Axis {
  return {
    stroke: () => state.look.text,
    font,
    gap: 6,
    splits: () => state.model.ticks.map((tick) => tick.height),
    values: () => state.model.ticks.map((tick) => state.format(tick.value)),
    // Digits of 11 px Inter are 6.6 px wide.
    size: (_u, labels) => Math.max(30, 12 + 6.4 * Math.max(0, ...(labels ?? []).map((label) => label.length))),
    grid: { stroke: () => state.look.grid, width: 1 },
    ticks: { show: false },
  };
}

function shadeOf(u: uPlot, model: Model, buckets: readonly [number, number] | null): uPlot.BBox {
  if (!buckets) return { left: 0, top: 0, width: 0, height: 0 };
  const width = u.over.clientWidth;
  const left = Math.max(0, u.valToPos(model.starts[buckets[0]] ?? 0, "x"));
  const right = Math.min(width, u.valToPos(model.ends[buckets[1]] ?? 0, "x"));
  return { left, top: 0, width: right - left, height: u.over.clientHeight };
}
