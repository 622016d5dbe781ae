import { useLayoutEffect } from "react";
import { cursorGroup } from "./cursor";
import { bucketAt } from "./model";
import type { Plot } from "./plot";
import { noData, type Readout, readoutOf } from "./readout";
import type { Parts, Ref } from "./usePlot";

/** words are what a place of the legend says: "time", "total" or the n-th series, and "before …" of the window before. */
function words(said: Readout, what: string): string | null | undefined {
  const [, before, of] = /^(before )?(.*)$/.exec(what) ?? [];
  if (of === "time") return said.time;
  if (of === "total") return before ? said.totalBefore : said.total;
  return (before ? said.before : said.values)[Number(of)];
}

/** useReadout shows the bucket of the group's cursor: line, points, legend, and what is read aloud. */
export function useReadout({
  root,
  slider,
  plot,
  latest,
  model,
  group,
}: Parts & { plot: Ref<Plot | null>; group: string }) {
  useLayoutEffect(() => {
    const [figure, host] = [root.current, slider.current];
    if (!figure || !host) return;
    const show = (time: number | null) => {
      const index = time === null ? null : bucketAt(model, time);
      plot.current?.cursor(index);
      if (index === null) delete figure.dataset.hoverIndex;
      else figure.dataset.hoverIndex = String(index);
      const said = readoutOf(model, index ?? model.idle, latest.current.format);
      const text = (what = "") => words(said, what) ?? "";
      for (const node of figure.querySelectorAll<HTMLElement>("[data-readout]")) {
        const said = text(node.dataset.readout);
        if (node.textContent !== said) node.textContent = said;
        node.toggleAttribute("data-empty", said === noData);
      }
      // Only of the bucket that is read out; its place is kept, so that nothing moves.
      const partial = figure.querySelector<HTMLElement>(".chart-partial");
      if (partial) partial.style.visibility = said.partial ? "visible" : "hidden";
      host.setAttribute("aria-valuenow", String(Math.max(0, index ?? model.idle)));
      host.setAttribute("aria-valuetext", index === null ? `No cursor. Latest: ${said.sentence}` : said.sentence);
    };
    const shared = cursorGroup(group);
    show(shared.get());
    return shared.subscribe(show);
  }, [root, slider, plot, latest, model, group]);
}
