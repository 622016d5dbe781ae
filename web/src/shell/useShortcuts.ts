import { useEffect, useRef, useSyncExternalStore } from "react";
import { kept } from "./kept";
import { type Action, type Begun, isOurs, press } from "./shortcuts";

const setting = kept(() => localStorage, "muster-shortcuts");
let off = setting.read() === "off";
const listeners = new Set<() => void>();

/** useSingleKeys is whether the shortcuts are on, and turns them off and on for this browser (WCAG 2.1.4). */
export function useSingleKeys(): [boolean, (on: boolean) => void] {
  const on = useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => !off,
  );
  const turn = (next: boolean) => {
    off = !next;
    setting.write(next ? null : "off");
    for (const tell of listeners) tell();
  };
  return [on, turn];
}

/** useShortcuts does what the keys say, on the whole page; an action that is not given is nobody's. */
export function useShortcuts(actions: Partial<Record<Action, () => void>>) {
  const current = useRef(actions);
  useEffect(() => {
    current.current = actions;
  });
  useEffect(() => {
    let begun: Begun | null = null;
    const listen = (event: KeyboardEvent) => {
      if (off || !isOurs(event)) {
        begun = null;
        return;
      }
      // Shift comes before the question mark.
      if (event.key === "Shift") return;
      const meant = press(begun, event.key, event.timeStamp);
      begun = meant.begun;
      const act = meant.action && current.current[meant.action];
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}
