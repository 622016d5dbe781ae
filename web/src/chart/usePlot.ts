import { useLayoutEffect, useRef } from "react";
import type uPlot from "uplot";
import { cursorGroup } from "./cursor";
import { onSchemeChange, readLook } from "./look";
import { bucketAt, bucketSpan, type Model, seriesAt, spanOf } from "./model";
import { newPlot, type Plot } from "./plot";
import { followPointer } from "./pointer";
import type { ChartProps, Marks } from "./types";

export type Ref<T> = { current: T };
/** Parts are what the hooks of one chart share. */
export type Parts = {
  root: Ref<HTMLElement | null>;
  slider: Ref<HTMLDivElement | null>;
  /** The props of the last rendering, for what happens between two. */
  latest: Ref<ChartProps>;
  model: Model;
};

/** usePlot keeps the canvas: one as long as the series are the same ones, given new figures as they come. */
export function usePlot({
  root,
  slider,
  latest,
  model,
  stacked,
  height,
  pickedAt,
  marks,
}: Parts & { stacked: boolean; height: number; pickedAt: number | null; marks: Marks | null }) {
  const plot = useRef<Plot | null>(null);
  const current = useRef(model);
  useLayoutEffect(() => {
    current.current = model;
    plot.current?.show(model);
  }, [model]);
  const colors = model.series.map((s) => s.color).join("|");
  useLayoutEffect(() => {
    const [figure, host] = [root.current, slider.current];
    if (!figure || !host) return;
    const look = () => readLook(figure, colors.split("|"));
    const state = {
      model: current.current,
      look: look(),
      stacked,
      format: (value: number) => latest.current.format(value),
    };
    const drawn = newPlot(host, state, {
      width: host.clientWidth || 600,
      height,
      onDraw: (u) => placeLabels(u, figure),
    });
    plot.current = drawn;
    const sized = new ResizeObserver(() => drawn.resize(host.clientWidth));
    sized.observe(host);
    const recolor = onSchemeChange(() => {
      state.look = look();
      drawn.redraw();
    });
    // Canvas text is drawn in whatever font there is; again when ours has come.
    if (document.fonts?.status === "loading") document.fonts.ready.then(() => plot.current === drawn && drawn.redraw());
    const unfollow = follow(drawn, current, latest);
    return () => {
      plot.current = null;
      unfollow();
      recolor();
      sized.disconnect();
      drawn.destroy();
    };
  }, [root, slider, latest, colors, stacked, height]);
  // What is picked, and marks, change without a drawing, which places the rest.
  useLayoutEffect(() => {
    if ((pickedAt !== null || marks) && root.current && plot.current?.u.status === 1)
      placeLabels(plot.current.u, root.current);
  }, [root, pickedAt, marks]);
  return plot;
}

/** follow turns pointers over a plot into the group's cursor, and what is dragged into a zoom to whole buckets. */
function follow(plot: Plot, model: Ref<Model>, latest: Ref<ChartProps>): () => void {
  const bucket = (x: number) => bucketAt(model.current, plot.u.posToVal(x, "x"));
  const buckets = (x: readonly [number, number]) => {
    const [first, last] = [bucket(x[0]), bucket(x[1])];
    return first === null || last === null ? null : ([first, last] as const);
  };
  return followPointer(plot.u.over, {
    hover: (x) => {
      const index = x === null ? null : bucket(x);
      cursorGroup(latest.current.group).set(index === null ? null : (model.current.starts[index] ?? null));
    },
    drag: (x) => plot.select(x && latest.current.onZoom ? buckets(x) : null),
    drop: (x) => {
      const chosen = buckets(x);
      if (chosen) latest.current.onZoom?.(...spanOf(model.current, chosen));
    },
    pick: (x, y) => {
      const index = bucket(x);
      if (index === null) return;
      const [from, to] = bucketSpan(model.current, index);
      const series = seriesAt(model.current, index, 1 - y / plot.u.over.clientHeight);
      latest.current.onPick?.({ from, to, series });
    },
  });
}

/**
 * placeLabels puts names of bands on top of these, a level at its height, and vertical lines where the plot has their instants; labels turn to
 * where there is room.
 */
function placeLabels(u: uPlot, figure: HTMLElement) {
  const ratio = devicePixelRatio;
  const [left, top, width] = [u.bbox.left / ratio, u.bbox.top / ratio, u.bbox.width / ratio];
  // Where the plot is, for what the style sheet places.
  const plot = { left, top, width, height: u.bbox.height / ratio };
  for (const [side, size] of Object.entries(plot)) figure.style.setProperty(`--plot-${side}`, `${size}px`);
  for (const band of figure.querySelectorAll<HTMLElement>(".chart-band")) {
    band.style.top = `${top + u.valToPos(Number(band.dataset.height), "y")}px`;
  }
  for (const level of figure.querySelectorAll<HTMLElement>(".chart-level")) {
    level.style.top = `${top + u.valToPos(Number(level.dataset.height), "y")}px`;
  }
  for (const marker of figure.querySelectorAll<HTMLElement>(".chart-marker")) {
    const x = u.valToPos(Number(marker.dataset.at), "x");
    marker.style.left = `${left + x}px`;
    marker.dataset.side = x > width / 2 ? "left" : "right";
    // A label that is longer than its half ends there: over the axis it would hide a tick.
    marker.style.setProperty("--room", `${Math.max(x, width - x)}px`);
  }
}
