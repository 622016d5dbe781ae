import { useSyncExternalStore } from "react";

let demo = false;
const listeners = new Set<() => void>();

/** noteDemo takes note of an answer's X-Demo-Data; once made up, the organization stays so until the page is loaded anew. */
export function noteDemo(said: boolean) {
  if (!said || demo) return;
  demo = true;
  for (const tell of listeners) tell();
}

/** useDemo says that what the organization shows is made up. */
export function useDemo(): boolean {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => demo,
  );
}
