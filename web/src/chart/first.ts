// The first chart of the page: what else there is to show waits for it.
import { startTransition, useEffect, useState } from "react";

let drawn = false;
const waiting = new Set<() => void>();

/** noteDrawn is called at each drawing; the first is marked for whoever measures. */
export function noteDrawn() {
  if (drawn) return;
  performance.mark("muster:first-chart");
  noteNone(() => performance.mark("muster:first-chart-painted"));
}

/** noteNone says that nobody needs to wait for a chart any longer: it is there, or none comes, as in a window without data. */
export function noteNone(painted = () => {}) {
  if (drawn) return;
  drawn = true;
  // After the next frame, which is the first chart's.
  requestAnimationFrame(() =>
    setTimeout(() => {
      painted();
      for (const tell of waiting) tell();
    }),
  );
}

/** Where neither is known, and in a hidden tab, which has no frames, what waits is shown after so many milliseconds. */
const patience = 1_000;

/** useAfterFirst is false until a chart of the page has been drawn. Once it is true, it is so from the first rendering on. */
export function useAfterFirst(): boolean {
  const [after, setAfter] = useState(drawn);
  useEffect(() => {
    if (after) return;
    const settle = () => startTransition(() => setAfter(true));
    const timer = setTimeout(settle, patience);
    waiting.add(settle);
    return () => {
      clearTimeout(timer);
      waiting.delete(settle);
    };
  }, [after]);
  return after;
}
