// Tests with a clock of their own move it on only when the page has taken in what it asked for: an answer that comes a
// moment later on the page's clock moves every wait that is counted from it.
import type { Page } from "playwright-core";

/** watchAnswers is for before the first page: it has the page know of its own requests until it is done with them. */
export const watchAnswers = (page: Page) =>
  page.addInitScript(() => {
    let open = 0;
    let waiting: (() => void)[] = [];
    // Messages come also while the clock stands, and after all that a settled promise has set off.
    const later = (then: () => void) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        then();
      };
      port2.postMessage(null);
    };
    const over = () => {
      open--;
      if (open > 0) return;
      for (const tell of waiting) tell();
      waiting = [];
    };
    const noted =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        open++;
        try {
          return await call(...args);
        } finally {
          later(over);
        }
      };
    window.fetch = noted(window.fetch.bind(window));
    for (const read of ["arrayBuffer", "json", "text"] as const) {
      const own = Response.prototype[read];
      Response.prototype[read] = function (this: Response) {
        return noted(() => own.call(this))();
      };
    }
    const takenIn = () =>
      new Promise<void>((resolve) => {
        if (open === 0) resolve();
        else waiting.push(resolve);
      });
    Object.assign(window, { takenIn });
  });

/** takenIn waits until the page has nothing asked that it has not taken in. */
export const takenIn = (page: Page) =>
  page.evaluate(() => (window as unknown as { takenIn: () => Promise<void> }).takenIn());
