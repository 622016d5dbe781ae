import { usePolling } from "../api/polling";
import { windowQuery } from "../window/query";
import type { Scope } from "../window/scope";
import { windowBefore } from "../window/window";

/** queryBefore is the same of the window before, which tiles are compared with. */
export const queryBefore = (scope: Scope) => ({ ...windowQuery(scope), ...windowBefore(scope.window) });

/** useCurrent is the options of figures of this moment: they are read again every 30 s, sooner than samples come in. */
export const useCurrent = () => usePolling(() => 30_000);
