// The panel's code, which the dashboard does without until somebody is about to ask.
import { type ComponentType, useEffect, useState } from "react";
import { part } from "../ui/part";
import classes from "./dashboard.module.css";
import type { Who } from "./who";

type Panel = ComponentType<{ who: Who }>;

let loaded: Panel | null = null;

async function load(): Promise<Panel> {
  const { WhoPanel } = await import("./WhoPanel");
  loaded = WhoPanel;
  return WhoPanel;
}

/** usePanelSoon has it on its way once somebody points at something, or presses a key: a figure may be next. */
export function usePanelSoon() {
  useEffect(() => {
    const stop = new AbortController();
    const start = () => {
      stop.abort();
      load().catch(() => {});
    };
    for (const act of ["pointermove", "pointerdown", "keydown"]) {
      document.addEventListener(act, start, { signal: stop.signal, passive: true });
    }
    return () => stop.abort();
  }, []);
}

/** LaterPanel is the panel once it is there. Not by lazy(): React shows what that has loaded 300 ms late. */
export function LaterPanel({ who }: { who: Who }) {
  const [Panel, show] = useState<Panel | null>(() => loaded);
  const [failed, fail] = useState<unknown>(null);
  useEffect(() => {
    if (Panel === null) part(load).then((panel) => show(() => panel), fail);
  }, [Panel]);
  if (failed !== null) throw failed;
  if (Panel !== null) return <Panel who={who} />;
  return <div className={classes.panelWaiting} role="status" aria-label="Loading the breakdown" />;
}
