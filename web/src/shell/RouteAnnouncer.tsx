import { useEffect, useState } from "react";

/** RouteAnnouncer speaks a page's title when another page has taken the place of the last one. */
export function RouteAnnouncer() {
  const [said, setSaid] = useState("");
  useEffect(() => {
    let last = document.title;
    const observer = new MutationObserver(() => {
      if (document.title === last) return;
      last = document.title;
      setSaid(document.title);
    });
    observer.observe(document.head, { childList: true, subtree: true, characterData: true });
    return () => observer.disconnect();
  }, []);
  return (
    <div className="visually-hidden" role="status" aria-live="polite" data-route>
      {said}
    </div>
  );
}
