import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

/** Left is where the reader was when they left an entry of the history: a link (which of those to one address), a scroll. */
type Left = { href: string; nth: number; scroll: number };

const patience = 2_000;
const acts = ["keydown", "pointerdown", "wheel", "touchmove"] as const;

const linksTo = (href: string) =>
  [...document.querySelectorAll<HTMLAnchorElement>("main a[href]")].filter((a) => a.getAttribute("href") === href);

/** restore focuses the link that was left, and scrolls to where it was, as soon as it is there; the reader's acts end it. */
function restore({ href, nth, scroll }: Left): () => void {
  const attempt = () => {
    if (document.activeElement !== document.body && document.activeElement?.id !== "main") return;
    const link = linksTo(href)[nth];
    if (!link) return;
    link.focus({ preventScroll: true });
    if (Math.abs(window.scrollY - scroll) > 1) window.scrollTo({ top: scroll, behavior: "instant" });
  };
  const observer = new MutationObserver(attempt);
  const stop = () => {
    observer.disconnect();
    clearTimeout(timer);
    for (const act of acts) window.removeEventListener(act, stop, true);
  };
  const timer = setTimeout(stop, patience);
  for (const act of acts) window.addEventListener(act, stop, { capture: true, passive: true });
  observer.observe(document.body, { childList: true, subtree: true });
  attempt();
  return stop;
}

/**
 * useFocus moves the focus as pages change: to the content after a link, and to the link that was followed after Back.
 * A change of the address within one page leaves it alone.
 */
export function useFocus() {
  const router = useRouter();
  useEffect(() => {
    const left = new Map<string, Left>();
    let back = false;
    let stop = () => {};
    const key = () => router.history.location.state.__TSR_key ?? "";
    const follow = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("main a[href]") : null;
      const href = link?.getAttribute("href");
      if (!link || !href) return;
      left.set(key(), { href, nth: linksTo(href).indexOf(link), scroll: window.scrollY });
    };
    document.addEventListener("click", follow, true);
    const unhear = router.history.subscribe(({ action }) => {
      back = action.type === "BACK" || action.type === "FORWARD" || action.type === "GO";
    });
    const unrender = router.subscribe("onRendered", ({ pathChanged, fromLocation }) => {
      if (!pathChanged || !fromLocation) return;
      stop();
      document.getElementById("main")?.focus({ preventScroll: true });
      const here = back ? left.get(key()) : undefined;
      if (here) stop = restore(here);
    });
    return () => {
      document.removeEventListener("click", follow, true);
      unhear();
      unrender();
      stop();
    };
  }, [router]);
}
