import "./flags.css";
import { type KeyboardEvent, useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { type Change, ChangesContext } from "../chart/changes";
import { shortTime } from "../ui/format";
import { bandsOf, flagName, flagsOf, kindName } from "./flags";

/** Of more changes than these, the rest is counted: the table has all of them. */
const listed = 5;

/** How long what a flag says stays while the pointer goes from the flag to it. Milliseconds. */
const leaving = 200;

const none: readonly Change[] = [];

/**
 * Flags are what changed, on a chart from one time to another: a line and a flag at each, and one flag for those that are
 * near each other. What lasts is a band behind them. They are one stop of the Tab key, and arrows lead from one to the next. What a flag says shows while
 * it has the focus or the pointer.
 */
export function Flags({ title, from, to }: { title: string; from: number; to: number }) {
  const all = useContext(ChangesContext)?.all ?? none;
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const flags = useMemo(() => flagsOf(all, from, to, width), [all, from, to, width]);
  const bands = useMemo(() => bandsOf(all, from, to), [all, from, to]);
  const [stop, setStop] = useState(0);
  const [open, show] = useOpen();
  const note = useId();
  const current = Math.min(stop, flags.length - 1);
  const said = open === null ? undefined : flags[open];
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, Home: -flags.length, End: flags.length };
    const step = steps[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = Math.min(flags.length - 1, Math.max(0, current + step));
    root.current?.querySelectorAll<HTMLElement>("button")[next]?.focus();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is of a form
    <div ref={root} className="flags" role="group" aria-label={`${title}: what changed`}>
      {bands.map(({ id, at, width, text }) => (
        <div key={id} className="flag-band" style={{ "--at": at, "--wide": width } as object}>
          <span className="visually-hidden">Maintenance window: {text}</span>
        </div>
      ))}
      {flags.map((flag, i) => (
        <div
          key={flag.changes[0]?.id}
          className="flag"
          data-kind={flag.kind}
          data-end={flag.atEnd || undefined}
          style={{ "--at": flag.at } as object}
        >
          <button
            type="button"
            tabIndex={i === current ? 0 : -1}
            aria-label={flagName(flag)}
            aria-describedby={open === i ? note : undefined}
            data-flag={flag.changes.length}
            onFocus={() => {
              setStop(i);
              show(i);
            }}
            onBlur={() => show(null)}
            onPointerEnter={() => show(i)}
            onPointerLeave={() => show(null, leaving)}
            onKeyDown={move}
          >
            {flag.changes.length > 1 && (
              <span aria-hidden>{flag.changes.length > 99 ? "99+" : flag.changes.length}</span>
            )}
          </button>
        </div>
      ))}
      {said && (
        <div
          id={note}
          role="tooltip"
          className="flag-note"
          style={{ "--at": said.at } as object}
          onPointerEnter={() => show(open)}
          onPointerLeave={() => show(null, leaving)}
        >
          <ul>
            {said.changes.slice(0, listed).map((change) => (
              <li key={change.id} data-kind={change.kind}>
                <b>{kindName(change.kind)}</b> <time>{shortTime(new Date(change.at))}</time>
                {change.until !== undefined && <time> to {shortTime(new Date(change.until))}</time>}
                <span className="flag-text">{change.text}</span>
                <small>
                  {change.where}
                  {change.who !== null && `, set by ${change.who}`}
                </small>
              </li>
            ))}
          </ul>
          {said.changes.length > listed && <small>and {said.changes.length - listed} more; the table has all</small>}
        </div>
      )}
    </div>
  );
}

/** useWidth is how wide an element is, at most as wide as its window's plot. */
function useWidth(of: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    const element = of.current;
    if (!element) return;
    const sized = new ResizeObserver(() => setWidth(element.clientWidth || 600));
    sized.observe(element);
    return () => sized.disconnect();
  }, [of]);
  return width;
}

/** useOpen is which flag says what it is of, and how that is changed, at once or in a while; Escape closes it. */
function useOpen(): [number | null, (flag: number | null, after?: number) => void] {
  const [open, setOpen] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (open === null) return;
    const close = (event: globalThis.KeyboardEvent) => event.key === "Escape" && setOpen(null);
    document.addEventListener("keydown", close);
    return () => document.removeEventListener("keydown", close);
  }, [open]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = (flag: number | null, after = 0) => {
    clearTimeout(timer.current);
    if (after === 0) setOpen(flag);
    else timer.current = setTimeout(() => setOpen(flag), after);
  };
  return [open, show];
}
