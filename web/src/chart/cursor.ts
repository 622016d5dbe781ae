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

/** cursorGroup is the cursor of a group of charts. Names of groups are few and constant: none is ever forgotten. */
export function cursorGroup(name: string): CursorGroup {
  const there = groups.get(name);
  if (there) return there;
  const made = newGroup();
  groups.set(name, made);
  return made;
}

function newGroup(): CursorGroup {
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
        // Charts that get new figures leave and come back at once, and keep the cursor; a page that is left loses it.
        queueMicrotask(() => {
          if (followers.size === 0) time = null;
        });
      };
    },
  };
}
