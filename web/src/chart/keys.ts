import type { KeyboardEvent } from "react";
import { cursorGroup } from "./cursor";
import { bucketAt, bucketSpan, type Model } from "./model";
import type { ChartProps } from "./types";

/** pickByKey picks the bucket of the cursor, by Enter; without a cursor the one that is read out. */
export function pickByKey(event: KeyboardEvent, model: Model, group: string, onPick: ChartProps["onPick"]) {
  const time = cursorGroup(group).get();
  const index = (time === null ? null : bucketAt(model, time)) ?? model.idle;
  if (event.key !== "Enter" || event.altKey || event.ctrlKey || event.metaKey || index < 0) return;
  event.preventDefault();
  const [from, to] = bucketSpan(model, index);
  onPick?.({ from, to, series: null });
}

/** moveByKey moves the cursor of the group: arrows a bucket, with Shift or by Page keys ten, Home and End, Escape. */
export function moveByKey(event: KeyboardEvent, model: Model, group: string) {
  const shared = cursorGroup(group);
  const last = model.starts.length - 1;
  if (last < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  const time = shared.get();
  const index = time === null ? null : bucketAt(model, time);
  const step = event.shiftKey ? 10 : 1;
  // From nowhere the first step leads to the first bucket, or backwards to the last.
  const forward = (by: number) => (index === null ? by - 1 : index + by);
  const backward = (by: number) => (index === null ? last + 1 - by : index - by);
  const targets: Record<string, number | null> = {
    ArrowRight: forward(step),
    ArrowUp: forward(step),
    ArrowLeft: backward(step),
    ArrowDown: backward(step),
    PageUp: forward(10),
    PageDown: backward(10),
    Home: 0,
    End: last,
    Escape: null,
  };
  const target = targets[event.key];
  if (target === undefined || (event.key === "Escape" && time === null)) return;
  event.preventDefault();
  shared.set(target === null ? null : (model.starts[Math.min(last, Math.max(0, target))] ?? null), true);
}
