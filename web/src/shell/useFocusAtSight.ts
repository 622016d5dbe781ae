import { type RefObject, useLayoutEffect } from "react";

/**
 * useFocusAtSight gives what a popover begins with the focus as the popover is first seen: Mantine does it a moment
 * later, and what is typed meanwhile is lost. root is a field, or is around the buttons of which one is marked
 * data-autofocus. Where the popover goes while it has the focus, who had it before gets it back: Mantine's own way back
 * leads into the popover where nothing is animated.
 */
export function useFocusAtSight(root: RefObject<HTMLElement | null>) {
  useLayoutEffect(() => {
    const at = root.current;
    const before = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    const own = at?.querySelector<HTMLElement>("[data-autofocus]") ?? at?.querySelector("button") ?? at;
    own?.focus({ preventScroll: true });
    const popover = own?.closest('[role="dialog"]');
    return () => {
      if (popover?.contains(document.activeElement)) before?.focus({ preventScroll: true });
    };
  }, [root]);
}
