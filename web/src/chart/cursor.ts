// Charts of one group share one cursor: the start of a bucket. uPlot.sync would not do: its setCursor()
// tells no other chart, so keys could not move it, and it shares positions where we want a bucket.

export type CursorGroup = {
  /** The start of the bucket under the cursor, null without one. */
  get: () => number | null;
  /** Moves it; charts follow in the next frame, or with `now` at once. */
  set: (time: number | null, now?: boolean) => void;
  subscribe: (follow: (time: number | null) => void) => () => void;
};

const groups = new Map<string, CursorGroup>();

/** cursorGroup is the cursor of a group of charts; there is one as long as a chart follows it. */
export function cursorGroup(name: string): CursorGroup {
  const there = groups.get(name);
  if (there) return there;
  const made = newGroup(() => groups.delete(name));
  groups.set(name, made);
  return made;
}

function newGroup(left: () => void): CursorGroup {
  const followers = new Set<(time: number | null) => void>();
  let time: number | null = null;
  let frame = 0;
  const tell = () => {
    frame = 0;
    for (const follow of followers) follow(time);
  };
  return {
    get: () => time,
    set: (next, now = false) => {
      if (next === time) return;
      time = next;
      if (now) {
        cancelAnimationFrame(frame);
        tell();
      } else if (frame === 0) {
        frame = requestAnimationFrame(tell);
      }
    },
    subscribe: (follow) => {
      followers.add(follow);
      return () => {
        followers.delete(follow);
        if (followers.size > 0) return;
        cancelAnimationFrame(frame);
        left();
      };
    },
  };
}
