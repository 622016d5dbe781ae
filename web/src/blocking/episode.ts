// Who holds whom up, in words: of an episode, of a tree at one of its samples, and of a session.
import type { Schemas } from "../api/client";
import { count, duration, plural } from "../ui/format";

export type Episode = Schemas["BlockingEpisode"];
export type Session = Schemas["BlockingSession"];
export type Tree = Schemas["BlockingTree"];
export type Sample = Schemas["BlockingMoment"];

/** So many groups of sessions are drawn at once; the others are counted. */
export const mostGroups = 7;

/** called is what a session is called: by its application, else by its user, else by its id. */
export function called({ kind, session, application, user }: Session): string {
  if (kind === "prepared") return `prepared transaction${session.replace(/^prepared/, "")}`;
  if (kind === "autovacuum") return "autovacuum";
  if (kind === "distributed") return "an orphaned distributed transaction";
  if (kind === "recovery") return "a deferred recovery transaction";
  if (kind === "latch") return "an unknown latch owner";
  return application ?? user ?? `session ${session}`;
}

/** objectName is what a lock is on, without the word for a table: "public.orders". */
export const objectName = (object: string) => object.replace(/^table /, "");

/** objectOf is what an episode's sessions wait for: "public.orders", "advisory lock 42"; null: that is not known. */
export function objectOf({ object, advisory }: Pick<Episode, "object" | "advisory">): string | null {
  if (advisory) return object === null ? "an advisory lock" : `advisory lock ${object}`;
  return object === null ? null : objectName(object);
}

const several = (names: string[]) =>
  names.length < 3 ? names.join(" and ") : `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`;

/** capital is a text that begins a sentence. What an application calls itself stays as it is. */
export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** titleOf is an episode in a line: "billing holds up 12 sessions on public.orders". */
export function titleOf(e: Episode): string {
  const lasts = e.to === null;
  const object = objectOf(e);
  const on = object === null ? "" : ` on ${object}`;
  if (e.cycle.length > 0) {
    const outside = e.behind + 1 - e.cycle.length;
    const others = outside > 0 ? ` and ${lasts ? "hold" : "held"} up ${heldUp(e, outside)}` : "";
    return `Sessions ${several(e.cycle)} ${lasts ? "wait" : "waited"} for each other${others}${on}`;
  }
  const own = e.root.kind === "client" && (e.root.application ?? e.root.user) !== null;
  const name = own ? called(e.root) : capital(called(e.root));
  const others = e.roots > 1 ? `, beside ${plural(e.roots - 1, "other root")}` : "";
  return `${name} ${lasts ? "holds" : "held"} up ${heldUp(e, e.behind)}${on}${others}`;
}

/** heldUp is how many sessions a root holds up. If more wait than a sample keeps, nobody knows whom the others wait for. */
function heldUp({ roots, behind, cycle, maxBlocked }: Episode, sessions: number): string {
  const waiting = behind + (cycle.length > 0 ? 1 : 0);
  const more = roots === 1 && maxBlocked > waiting;
  return more ? `at least ${count(sessions)} of ${plural(maxBlocked, "session")}` : plural(sessions, "session");
}

const between = (from: string, to: string) => duration(Math.max(0, Date.parse(to) - Date.parse(from)));

/** stateOf is what a session did at a time, and for how long it had: "idle in transaction for 4 min 16 s". */
export function stateOf(s: Session, at: string): string | null {
  if (s.waitsSince) return `waits for ${between(s.waitsSince, at)}`;
  if (s.kind === "prepared") return s.transactionSince && `prepared for ${between(s.transactionSince, at)}`;
  const since = s.idleInTransaction ? s.stateSince : (s.transactionSince ?? s.stateSince);
  const state = s.idleInTransaction ? "idle in transaction" : s.state;
  if (state === null) return since && `in a transaction for ${between(since, at)}`;
  return since ? `${state} for ${between(since, at)}` : state;
}

/** whyOf is why a root holds its locks, and what that means, in a sentence or two. */
export function whyOf(s: Session, cycle: boolean): string {
  if (cycle) return "They wait for each other. The server ends one of them once it detects the deadlock.";
  if (s.kind === "prepared") {
    return "Its session is gone. It keeps its locks until somebody commits it or rolls it back.";
  }
  if (s.kind === "autovacuum") {
    return "PostgreSQL cancels this worker when a session waits for it, unless the worker prevents a wraparound.";
  }
  if (s.kind === "distributed") return "No session belongs to it any more. Its coordinator, or you, must end it.";
  if (s.kind === "recovery") return "The database could not recover this transaction yet.";
  if (s.kind === "latch") return "The server does not say who owns this latch.";
  if (s.kind === "system") return "It is a process of the server itself.";
  if (s.idleInTransaction) {
    return "It left its transaction open and executes nothing. It keeps its locks until the transaction ends.";
  }
  if (s.state === "idle") {
    return "It executes nothing. It keeps the lock until it gives the lock back, or until its session ends.";
  }
  return "It still works. The others go on when its transaction ends.";
}

/** endOf is how an episode ended, in a sentence; null while it lasts. */
export function endOf({ to, endSeen, endedBy }: Pick<Episode, "to" | "endSeen" | "endedBy">): string | null {
  if (to === null) return null;
  if (!endSeen) return "No later sample exists, so its end was not seen.";
  const ends: Record<Schemas["BlockingEnd"], string> = {
    transactionEnded: "The root committed or rolled back.",
    sessionEnded: "The root's session ended: it was closed or terminated.",
    waitsEnded: "The waiting sessions gave up or were canceled. The root kept its transaction.",
  };
  return endedBy === null ? "How it ended is not known." : ends[endedBy];
}

/** Group is the sessions that wait alike: of one application and user, with one statement, for one lock. */
export type Group = { key: string; sessions: Session[]; longest: string | null };

/** groupsOf are groups of sessions, the largest first, then the one that has waited longest. */
export function groupsOf(sessions: Session[]): Group[] {
  const groups = new Map<string, Session[]>();
  for (const s of sessions) {
    const key = JSON.stringify([s.application, s.user, s.statementId ?? s.statement, s.lock, s.mode, s.object]);
    groups.set(key, [...(groups.get(key) ?? []), s]);
  }
  const oldest = (of: Session[]) =>
    of.reduce<string | null>((min, { waitsSince: at }) => (at !== null && (min === null || at < min) ? at : min), null);
  return [...groups]
    .map(([key, sessions]) => ({ key, sessions, longest: oldest(sessions) }))
    .sort((a, b) => b.sessions.length - a.sessions.length || (a.longest ?? "").localeCompare(b.longest ?? ""));
}

/** Branch is who waits for one root: for it itself, and behind those. The members of a circle are roots together. */
export type Branch = { roots: Session[]; cycle: boolean; direct: Session[]; behind: Session[] };

/** branchesOf are the roots of a tree with those who wait for them, the one with the most first. */
export function branchesOf(tree: Tree): Branch[] {
  const byId = new Map(tree.sessions.map((s) => [s.session, s]));
  const waiters = new Map<string, Session[]>();
  for (const s of tree.sessions) {
    for (const holder of s.waitsFor) waiters.set(holder, [...(waiters.get(holder) ?? []), s]);
  }
  return tree.roots.map(({ session, cycle }) => {
    const ids = cycle.length > 0 ? cycle : [session];
    const roots = ids.flatMap((id) => byId.get(id) ?? []);
    const seen = new Set(ids);
    const after = (of: readonly { session: string }[]) => {
      const next: Session[] = [];
      for (const { session } of of) {
        for (const s of waiters.get(session) ?? []) {
          if (seen.has(s.session)) continue;
          seen.add(s.session);
          next.push(s);
        }
      }
      return next;
    };
    const direct = after(roots);
    const behind: Session[] = [];
    for (let level = after(direct); level.length > 0; level = after(level)) behind.push(...level);
    return { roots, cycle: cycle.length > 0, direct, behind };
  });
}

/** Span is a time in milliseconds. */
export type Span = { from: number; to: number };

/** spanOf is the time that the picture of an episode shows: all of it, and some time before. */
export function spanOf(e: Episode, now: number): Span {
  const [from, to] = [Date.parse(e.from), e.to === null ? Math.max(now, Date.parse(e.from)) : Date.parse(e.to)];
  const length = Math.max(to - from, 60_000);
  const began = e.root.transactionSince === null ? from : Date.parse(e.root.transactionSince);
  return { from: Math.min(from - length / 8, Math.max(began - length / 16, from - length)), to: from + length };
}

/** placeIn is where a time lies in a span, in percent from its beginning. */
export const placeIn = ({ from, to }: Span, at: string | number) =>
  Math.min(100, Math.max(0, (100 * ((typeof at === "string" ? Date.parse(at) : at) - from)) / (to - from)));

/** stepsOf is the outline of how many sessions waited, as points of a 100 by 100 square for an SVG polygon. */
export function stepsOf(samples: Sample[], span: Span, most: number, end: number): string {
  const points = [[0, 100]];
  let height = 100;
  for (const { at, blocked } of samples) {
    const x = placeIn(span, at);
    points.push([x, height]);
    height = 100 - (100 * blocked) / Math.max(1, most);
    points.push([x, height]);
  }
  points.push([placeIn(span, end), height], [placeIn(span, end), 100]);
  return points.map(([x, y]) => `${x?.toFixed(2)},${y?.toFixed(2)}`).join(" ");
}

/** shownAt is the sample that a time shows: the newest one that is not younger, else the first; -1 of none. */
export function shownAt(samples: Sample[], at: string | undefined): number {
  if (at === undefined) return samples.length - 1;
  const time = Date.parse(at);
  const next = samples.findIndex((s) => Date.parse(s.at) > time);
  return next < 0 ? samples.length - 1 : Math.max(0, next - 1);
}

/** Remedy is something that ends the wait: what it does, what is lost, and the statement for it. */
export type Remedy = { title: string; says: string; sql?: string };

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** began is when a session began, as its server writes it. PostgreSQL's keeps its microseconds. */
const began = (at: string) => at.replace("T", " ").replace("Z", "+00");

const postgres = (call: string, { session, startedAt }: Session) =>
  `SELECT ${call}(pid) FROM pg_stat_activity\n WHERE pid = ${session}${startedAt ? ` AND backend_start = ${quoted(began(startedAt))}` : ""};`;

/** endSession is the statement that ends a client's session, and does nothing if another one has its id now. */
function endSession(engine: string, s: Session): string | undefined {
  if (engine === "postgresql" && /^\d+$/.test(s.session)) return postgres("pg_terminate_backend", s);
  if (engine === "sqlserver" && /^\d+$/.test(s.session)) {
    if (!s.startedAt) return `KILL ${s.session};`;
    const login = quoted(s.startedAt.slice(0, 23).replace("Z", ""));
    return `IF EXISTS (SELECT 1 FROM sys.dm_exec_sessions\n            WHERE session_id = ${s.session} AND login_time = ${login})\n  KILL ${s.session};`;
  }
  if (engine === "oracle") {
    const parts = /^(\d+),(\d+),(\d+)$/.exec(s.session);
    return parts ? `ALTER SYSTEM KILL SESSION '${parts[1]},${parts[2]},@${parts[3]}' IMMEDIATE;` : undefined;
  }
  return undefined;
}

/** remediesOf is what ends the wait, the least harm first. */
export function remediesOf(engine: string, { roots, cycle, direct, behind }: Branch): Remedy[] {
  const [root] = roots;
  const [queue] = direct;
  if (!root || cycle) return [];
  const out: Remedy[] = [];
  if (engine === "postgresql" && direct.length === 1 && queue && behind.length > 0 && /^\d+$/.test(queue.session)) {
    out.push({
      title: `Cancel the statement of ${called(queue)}.`,
      says: `It fails and can be run again. ${plural(behind.length, "session")} ${behind.length === 1 ? "waits" : "wait"} behind it, and may go on.`,
      sql: postgres("pg_cancel_backend", queue),
    });
  }
  const all = direct.length + behind.length;
  const goOn = `${plural(all, "session")} ${all === 1 ? "goes" : "go"} on.`;
  if (root.kind === "prepared") {
    const gid = root.session.replace(/^prepared ?/, "");
    out.push({
      title: "End the prepared transaction.",
      says: `${goOn} Ask its transaction manager first whether it commits or rolls back. Run the statement in database ${root.database ?? "of the transaction"}.`,
      sql: gid ? `ROLLBACK PREPARED ${quoted(gid)};` : undefined,
    });
  } else if (root.kind === "autovacuum" && engine === "postgresql") {
    out.push({
      title: "Cancel the worker.",
      says: `${goOn} PostgreSQL starts it again later. Do not cancel a worker that prevents a wraparound.`,
      sql: postgres("pg_cancel_backend", root),
    });
  } else if (root.kind === "distributed") {
    out.push({
      title: "End the distributed transaction.",
      says: "The query lists its unit of work. Ask its coordinator first, and then use KILL with that id.",
      sql: "SELECT DISTINCT request_owner_guid FROM sys.dm_tran_locks WHERE request_session_id = -2;",
    });
  } else if (root.kind === "client") {
    const since = root.transactionSince ? " What its transaction has changed is rolled back." : "";
    out.push({
      title: `End the session of ${called(root)}.`,
      says: `${goOn}${since}`,
      sql: endSession(engine, root),
    });
  }
  if (engine === "postgresql" && root.idleInTransaction) {
    out.push({
      title: "Prevent it.",
      says: "idle_in_transaction_session_timeout ends sessions that leave a transaction open. lock_timeout limits how long a statement waits for a lock.",
    });
  }
  return out;
}
