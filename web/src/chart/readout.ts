import type { Model } from "./model";
import { bucketLabel, partialText } from "./times";
import type { ChartSeries } from "./types";

export const noData = "no data";

/** Readout is one bucket in words: for the legend, and as a sentence for whoever hears the chart. */
export type Readout = {
  time: string;
  values: string[];
  total: string | null;
  /** The same of the window before, where it is compared with: each series' own, and of a stack the total. */
  before: string[];
  totalBefore: string | null;
  partial: boolean;
  sentence: string;
};

/** totalName says what a total adds up, where that is not everything. */
export function totalName(series: readonly ChartSeries[], hidden: ReadonlySet<string>): string {
  const names = (of: ChartSeries[]) => of.map((s) => s.label).join(", ");
  const [shown, out] = [series.filter((s) => !hidden.has(s.key)), series.filter((s) => hidden.has(s.key))];
  if (out.length === 0) return "Total";
  return out.length < shown.length ? `Total without ${names(out)}` : `Total of ${names(shown)}`;
}

/** readoutOf says a bucket's own values, also of stacks; of hidden series too, but not in the sentence. */
export function readoutOf(model: Model, index: number, format: (value: number) => string): Readout {
  const say = (value: number | null | undefined) => (value === null || value === undefined ? noData : format(value));
  const start = model.starts[index];
  const values = model.series.map((s) => say(s.values[index]));
  const total = model.totals && say(model.totals[index]);
  const before = model.series.map((s) => (s.before ? say(s.before[index]) : ""));
  const sum = model.before.find(({ column }) => column === null);
  const totalBefore = sum ? say(sum.values[index]) : null;
  const said = { values, total, before, totalBefore };
  if (start === undefined) return { ...said, time: noData, partial: false, sentence: noData };
  const time = bucketLabel(start, model.bucketSize);
  const then = (text: string | null | undefined) => (text ? `, before ${text}` : "");
  const spoken = model.series.flatMap((s, i) =>
    model.hidden.has(s.key) ? [] : [`${s.label} ${values[i]}${then(before[i])}`],
  );
  if (total !== null) spoken.push(`${totalName(model.series, model.hidden)} ${total}${then(totalBefore)}`);
  const partial = model.partial && index === model.starts.length - 1;
  const when = partial ? `${time}, ${partialText(start, model.generatedAt, model.bucketSize)}` : time;
  return { ...said, time, partial, sentence: `${when}: ${spoken.join(", ")}` };
}

/** widest is the most characters that a value's text takes, so that the legend keeps its places: of a sample and the greatest. */
export function widest(model: Model, format: (value: number) => string): number {
  // Proportional letters: "no data" is as wide as five and a half digits.
  let most = 5.5;
  let top = 0;
  const former = [...model.series.flatMap((s) => (s.before ? [s.before] : [])), ...model.before.map((b) => b.values)];
  const columns = [...model.series.map((s) => s.values), ...(model.totals ? [model.totals] : []), ...former];
  for (const values of columns) {
    const step = Math.max(1, Math.floor(values.length / 40));
    values.forEach((value, i) => {
      if (value === null) return;
      top = Math.max(top, value);
      if (i % step === 0) most = Math.max(most, format(value).length);
    });
  }
  return Math.max(most, format(top).length);
}
