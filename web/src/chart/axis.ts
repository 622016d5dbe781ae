// How values become heights. A chart's ticks and its lines come from the same Axis, so that they cannot disagree.
import type { Values } from "./types";

/** Axis is a y axis over some figures: the values that get a label, and how high a value stands, from 0 (the base) to 1. */
export type Axis = { ticks: number[]; height: (value: number) => number };

/** Extent is what figures reach from and to; null where there are none. */
type Extent = { top: number; lowest: number; zeros: boolean; whole: boolean } | null;

function extentOf(columns: readonly Values[]): Extent {
  let extent: Extent = null;
  for (const values of columns) {
    for (const value of values) {
      if (value === null) continue;
      extent ??= { top: 0, lowest: Number.POSITIVE_INFINITY, zeros: false, whole: true };
      extent.top = Math.max(extent.top, value);
      if (value > 0) extent.lowest = Math.min(extent.lowest, value);
      else extent.zeros = true;
      extent.whole &&= Number.isInteger(value);
    }
  }
  return extent;
}

/** A line along the upper edge would lose half its width. */
const headroom = 1.04;

/** Nothing to draw needs no labels: they would be those of nobody's figures. */
const blank: Axis = { ticks: [], height: () => 0 };

/**
 * linearAxis goes from 0 to what fits the figures, and at least up to `upTo`, in at most four steps of 1, 2, 2.5 or 5
 * times a power of ten. Steps of whole numbers are whole.
 */
export function linearAxis(columns: readonly Values[], upTo = 0): Axis {
  const extent = extentOf(columns);
  if (!extent) return blank;
  const span = Math.max(extent.top, upTo) || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const sizes = [1, 2, 2.5, 5, 10].map((n) => n * power);
  const fits = (n: number) => span / n <= 4.0001 && (!extent.whole || Number.isInteger(n));
  const step = sizes.find(fits) ?? Math.max(1, 10 * power);
  const steps = Math.ceil(span / step - 1e-9);
  const ticks = Array.from({ length: steps + 1 }, (_, i) => Number((i * step).toPrecision(12)));
  const max = Math.max(ticks[steps] ?? 0, extent.top * headroom);
  return { ticks, height: (value) => value / max };
}

/** The steps of a logarithmic axis are counted: …, 0 is 1, 1 is 2, 2 is 5, 3 is 10, … */
const stepValue = (n: number) => Number(`${[1, 2, 5][((n % 3) + 3) % 3]}e${Math.floor(n / 3)}`);

function stepBelow(value: number): number {
  let n = 3 * Math.floor(Math.log10(value)) + 3;
  while (stepValue(n) > value) n--;
  return n;
}

function stepAbove(value: number): number {
  let n = 3 * Math.floor(Math.log10(value)) - 1;
  while (stepValue(n) < value) n++;
  return n;
}

/** logSteps are the labelled values around some: 1, 2, 5, 10 where these are few, else powers of ten, at most five. */
function logSteps(lowest: number, top: number): { ticks: number[]; max: number } {
  const [first, last] = [stepBelow(lowest / headroom), stepAbove(top * headroom)];
  if (last - first <= 4) {
    const ticks = Array.from({ length: last - first + 1 }, (_, i) => stepValue(first + i));
    return { ticks, max: stepValue(last) };
  }
  const [low, high] = [Math.floor(first / 3), Math.ceil(last / 3)];
  const apart = Math.ceil((high - low) / 4);
  const ticks = Array.from({ length: Math.floor((high - low) / apart) + 1 }, (_, i) =>
    stepValue(3 * (low + i * apart)),
  );
  return { ticks, max: stepValue(3 * high) };
}

/**
 * logAxis is logarithmic. A logarithm knows no 0, and 0 is a value: where there is one, the base is labelled 0 and the
 * least power stands one step above it. No other value is drawn in between.
 */
export function logAxis(columns: readonly Values[]): Axis {
  const extent = extentOf(columns);
  if (!extent) return blank;
  const { ticks, max } = extent.top > 0 ? logSteps(extent.lowest, extent.top) : logSteps(1, 1);
  const [low, high] = [Math.log10(ticks[0] ?? 1), Math.log10(max)];
  const base = extent.zeros ? 1 / (ticks.length + 1) : 0;
  return {
    ticks: extent.zeros ? [0, ...ticks] : ticks,
    height: (value) => (value > 0 ? base + ((Math.log10(value) - low) / (high - low)) * (1 - base) : 0),
  };
}
