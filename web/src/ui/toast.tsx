import type { NotificationData } from "@mantine/notifications";
import { lazy, Suspense, useSyncExternalStore } from "react";
import { part } from "./part";

// Most visits see no toast: what shows them is not waited for.
const Toasts = lazy(() => part(() => import("./Toasts")));
const notifications = () => part(() => import("@mantine/notifications")).then((m) => m.notifications);

let needed = false;
const listeners = new Set<() => void>();

/** toast shows one, or what it says now where one of that id is there. */
export async function toast(data: NotificationData) {
  if (!needed) {
    needed = true;
    for (const tell of listeners) tell();
  }
  (await notifications()).show(data);
}

/** dismiss takes a toast away. */
export async function dismiss(id: string) {
  (await notifications()).hide(id);
}

/** ToastArea is the place for toasts, as soon as there is one. */
export function ToastArea() {
  const there = useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => needed,
  );
  return there ? (
    <Suspense fallback={null}>
      <Toasts />
    </Suspense>
  ) : null;
}
