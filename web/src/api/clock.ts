// The server's clock. Times on the pages are the server's; a reader's clock may be minutes off, and an event that has
// just happened would then lie ahead. Every answer says in its Date what time it was over there.

/** What is added to the browser's clock lies between these, by all answers that agree. */
let least = Number.NEGATIVE_INFINITY;
let most = Number.POSITIVE_INFINITY;

/**
 * noteDate takes note of an answer's Date, asked for and received at these milliseconds of the browser's clock. Date
 * counts whole seconds: the server's clock was within the second after it. Answers that contradict the earlier ones say
 * that a clock was set.
 */
export function noteDate(date: string | null, asked: number, received: number) {
  const said = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(said)) return;
  const [from, to] = [said - received, said + 1_000 - asked];
  const agrees = from <= most && to >= least;
  least = agrees ? Math.max(least, from) : from;
  most = agrees ? Math.min(most, to) : to;
}

/** onServer is an instant of the browser's clock as the server's clock showed it; clocks that may agree do. */
export const onServer = (at: number) => at + Math.min(Math.max(0, least), most);

/** serverNow is the time by the server's clock, as far as its answers tell it. */
export const serverNow = () => new Date(onServer(Date.now()));
