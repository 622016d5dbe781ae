/** Pointing is what a pointer over a plot does; x is in pixels from the plot's left edge. */
export type Pointing = {
  hover: (x: number | null) => void;
  /** Being dragged from one to the other; null when that is given up or done. */
  drag: (x: readonly [number, number] | null) => void;
  /** Dragged, and let go. */
  drop: (x: readonly [number, number]) => void;
  /** Clicked or tapped; y is in pixels from the plot's top. */
  pick: (x: number, y: number) => void;
};

/** Less is a click of an unsteady hand. */
const dragFrom = 5;

/** followPointer listens to a plot's pointers: all of them hover and pick, mouse and pen drag. Returns how to stop. */
export function followPointer(over: HTMLElement, { hover, drag, drop, pick }: Pointing): () => void {
  let pressed: number | null = null;
  // Where a click began that is one so far.
  let clicked: number | null = null;
  let dragging = false;
  const stop = new AbortController();
  const at = (event: PointerEvent) => {
    const { left, width } = over.getBoundingClientRect();
    return Math.min(width, Math.max(0, event.clientX - left));
  };
  const giveUp = () => {
    pressed = null;
    clicked = null;
    if (dragging) drag(null);
    dragging = false;
  };
  const on = <K extends "pointerdown" | "pointermove" | "pointerup" | "pointerleave" | "pointercancel">(
    name: K,
    listener: (event: PointerEvent) => void,
  ) => over.addEventListener(name, listener, { signal: stop.signal });

  on("pointerdown", (event) => {
    hover(at(event));
    if (event.button !== 0) return;
    clicked = at(event);
    if (event.pointerType === "touch") return;
    pressed = clicked;
    over.setPointerCapture(event.pointerId);
  });
  on("pointermove", (event) => {
    const x = at(event);
    hover(x);
    if (clicked !== null && Math.abs(x - clicked) >= dragFrom) clicked = null;
    if (pressed === null) return;
    dragging ||= Math.abs(x - pressed) >= dragFrom;
    if (dragging) drag([Math.min(x, pressed), Math.max(x, pressed)]);
  });
  on("pointerup", (event) => {
    const x = at(event);
    const dragged = dragging && pressed !== null ? ([Math.min(x, pressed), Math.max(x, pressed)] as const) : null;
    const picked = clicked !== null && !dragging;
    giveUp();
    if (dragged) drop(dragged);
    else if (picked) pick(x, event.clientY - over.getBoundingClientRect().top);
  });
  on("pointercancel", giveUp);
  on("pointerleave", (event) => {
    if (event.pointerType !== "touch") hover(null);
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && giveUp(), { signal: stop.signal });
  return () => stop.abort();
}
