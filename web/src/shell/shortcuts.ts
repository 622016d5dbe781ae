// The keyboard shortcuts: what there is, and which key sequence means which of them.

export type Action =
  | "help"
  | "refresh"
  | "window"
  | "filter"
  | "search"
  | "dashboard"
  | "alerts"
  | "reports"
  | "instances"
  | "history";

export const shortcuts: { keys: string[]; action: Action; does: string }[] = [
  { keys: ["?"], action: "help", does: "Show this list" },
  { keys: ["r"], action: "refresh", does: "Refresh" },
  { keys: ["t"], action: "window", does: "Choose the time range" },
  { keys: ["f"], action: "filter", does: "Choose instances" },
  { keys: ["/"], action: "search", does: "Search the page" },
  { keys: ["g", "d"], action: "dashboard", does: "Go to the dashboard" },
  { keys: ["g", "a"], action: "alerts", does: "Go to alerts" },
  { keys: ["g", "i"], action: "instances", does: "Go to instances" },
  { keys: ["g", "r"], action: "reports", does: "Go to reports" },
  { keys: ["g", "h"], action: "history", does: "Go to the report history" },
];

/** Begun is the first key of a sequence and when it was pressed, in milliseconds. */
export type Begun = { key: string; at: number };

const patience = 1_500;

/** press is what a key means, after the one that a sequence began with (null: none): an action, or a sequence begun. */
export function press(begun: Begun | null, key: string, at: number): { action: Action | null; begun: Begun | null } {
  const pressed = begun && at - begun.at <= patience ? [begun.key, key] : [key];
  const exact = (keys: string[]) => shortcuts.find((s) => s.keys.join(" ") === keys.join(" "))?.action ?? null;
  const action = exact(pressed) ?? (pressed.length > 1 ? exact([key]) : null);
  const begins = action === null && shortcuts.some((s) => s.keys.length > 1 && s.keys[0] === key);
  return { action, begun: begins ? { key, at } : null };
}

/** isOurs says that a key press is a shortcut's and not a field's, a dialog's, a menu's, or the browser's. */
export function isOurs(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  if (document.querySelector('[aria-modal="true"]')) return false;
  const at = event.target instanceof Element ? event.target : null;
  const typing = 'input, textarea, select, [contenteditable=""], [contenteditable="true"], [role="textbox"]';
  return !at?.closest(`${typing}, [role="dialog"], [role="menu"], [role="listbox"]`);
}
