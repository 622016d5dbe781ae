// What uPlot does not draw: the unfinished last bucket, and lines where the date changes.
import type uPlot from "uplot";
import type { Look } from "./look";
import type { Model } from "./model";
import { midnights } from "./times";

const dayLinesUpTo = 15 * 86_400_000;

/** paintDays draws a line at each midnight of the browser's zone, in windows of up to a fortnight. */
export function paintDays(u: uPlot, model: Model, look: Look) {
  if (model.to - model.from > dayLinesUpTo) return;
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = look.grid;
  ctx.lineWidth = Math.max(1, Math.round(devicePixelRatio));
  ctx.beginPath();
  for (const at of midnights(model.from, model.to)) {
    const x = Math.round(u.valToPos(at, "x", true)) + 0.5;
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.restore();
}

/** paintTail draws the last segment of one series dashed: the bucket it leads to is not over. */
export function paintTail(u: uPlot, model: Model, column: number, stroke: string, fill: string | null) {
  const values = model.drawn[column] ?? [];
  const last = model.starts.length - 1;
  const end = values[last] ?? null;
  const start = values[last - 1] ?? null;
  if (!model.partial || end === null || start === null) return;
  const { ctx, bbox } = u;
  const x0 = Math.round(u.valToPos(model.xs[last - 1] ?? 0, "x", true));
  const x1 = Math.round(u.valToPos(model.xs[last] ?? 0, "x", true));
  const y0 = Math.round(u.valToPos(start, "y", true));
  const y1 = Math.round(u.valToPos(end, "y", true));
  const width = 1.5 * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - 2, bbox.width, bbox.height + 4);
  ctx.clip();
  // Onto the pixels that uPlot puts the segments before on.
  ctx.translate((width % 2) / 2, (width % 2) / 2);
  if (fill) {
    const base = u.valToPos(0, "y", true);
    ctx.fillStyle = fill;
    ctx.beginPath();
    ctx.moveTo(x0, base);
    ctx.lineTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.lineTo(x1, base);
    ctx.fill();
  }
  ctx.strokeStyle = stroke;
  ctx.lineWidth = width;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
  ctx.restore();
}

/** paintBefore draws the window before as pale lines: under lines of this one, but a stack's total over its areas. */
export function paintBefore(u: uPlot, model: Model, look: Look) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - 2, bbox.width, bbox.height + 4);
  ctx.clip();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.lineJoin = "round";
  for (const { column, line } of model.before) {
    ctx.strokeStyle = column === null ? look.totalBefore : (look.before[column] ?? "");
    ctx.beginPath();
    let joined = false;
    line.forEach((height, i) => {
      if (height !== null) {
        const [x, y] = [u.valToPos(model.xs[i] ?? 0, "x", true), u.valToPos(height, "y", true)];
        const alone = !joined && (line[i + 1] ?? null) === null;
        ctx[joined ? "lineTo" : "moveTo"](x, y);
        // A line of no length shows nothing: one value between gaps is as wide as it is thick.
        if (alone) ctx.lineTo(x + ctx.lineWidth, y);
      }
      joined = height !== null;
    });
    ctx.stroke();
  }
  ctx.restore();
}

/** paintHatch hatches the last bucket where it is partial, at least 2 px of it. */
export function paintHatch(u: uPlot, model: Model, look: Look) {
  const last = model.starts.length - 1;
  if (!model.partial) return;
  const { ctx, bbox } = u;
  const right = u.valToPos(Math.min(model.ends[last] ?? 0, model.to), "x", true);
  const start = u.valToPos(Math.max(model.starts[last] ?? 0, model.from), "x", true);
  const left = Math.min(start, right - 2 * devicePixelRatio);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, right - left, bbox.height);
  ctx.clip();
  ctx.fillStyle = look.shade;
  ctx.fillRect(left, bbox.top, right - left, bbox.height);
  ctx.strokeStyle = look.hatch;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  const gap = 7 * devicePixelRatio;
  for (let x = left - bbox.height; x < right; x += gap) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.restore();
}
