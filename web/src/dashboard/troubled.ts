// Which servers the dashboard puts before every figure.
import type { Schemas } from "../api/client";
import type { Status } from "../instances/states";

/** Shown is what is shown of a server that is not up. */
export type Shown = Schemas["ServerNotUp"];

/** So many servers have a row; the others are counted. */
const rows = 4;
/** From so many servers on, of which more than half are down, one row tells of all of them: what they share is down. */
const many = 5;
/** A server that was just added may be unknown for so long: something else says what comes of it. Milliseconds. */
const newcomer = 3 * 60_000;

export type Troubled = {
  /** All that are down, where they are too many at once to be told one by one. */
  together: Shown[];
  named: Shown[];
  /** Those without a row, by their state, the worst first. */
  others: [Status, number][];
};

const order: Status[] = ["down", "silent", "unknown"];

/**
 * troubled are the servers that are not up, the worst first: down, silent, unknown, and of each state the newest first.
 * So many are active in all.
 */
export function troubled(instances: Shown[], active: number, now: number): Troubled {
  const isNew = (i: Shown) => i.statusReason?.code === "never_heard" && now - Date.parse(i.createdAt) < newcomer;
  const wrong = instances.filter((i) => order.includes(i.status) && !(i.status === "unknown" && isNew(i)));
  const since = (i: Shown) => (i.statusSince === null ? 0 : Date.parse(i.statusSince));
  wrong.sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status) || since(b) - since(a));
  const down = wrong.filter((i) => i.status === "down");
  const together = active >= many && 2 * down.length > active ? down : [];
  const single = together.length > 0 ? wrong.slice(down.length) : wrong;
  const room = together.length > 0 ? rows - 1 : rows;
  const left = single.slice(room);
  const others = order.flatMap((status): [Status, number][] => {
    const n = left.filter((i) => i.status === status).length;
    return n > 0 ? [[status, n]] : [];
  });
  return { together, named: single.slice(0, room), others };
}
