// Deadlocks of databases in words: how many, which sessions, and where that is from.
import type { Schemas } from "../api/client";
import { plural } from "../ui/format";
import { called, objectName, type Session } from "./episode";

export type Deadlocked = Schemas["DatabaseDeadlocks"];

/** numberOf is how many deadlocks a database had. */
export const numberOf = ({ count }: Deadlocked) => plural(count, "deadlock");

/** placeOf is in which database they were. */
export const placeOf = ({ database }: Deadlocked) => database?.name ?? "in a database that the server does not name";

/** sourceOf is where the sides of the newest deadlock are from, or why there are none. */
export function sourceOf({ source, instance }: Deadlocked): string {
  if (source === "server") return "As the server reported the newest one.";
  if (source === "sample") return "A sample saw these sessions wait for each other.";
  if (instance.engine === "postgresql") return "The sides are not known: PostgreSQL writes them only to its log.";
  if (instance.engine === "oracle") return "The sides are not known: Oracle writes them only to a trace file.";
  return "The sides are not known: no report of the server has them any more.";
}

/** sideOf is one session of a deadlock, and whether the server ended it. */
export function sideOf(session: Session, victims: string[]) {
  const wants = [session.mode, session.object && objectName(session.object)].filter(Boolean).join(" on ");
  return {
    name: called(session),
    ended: victims.includes(session.session),
    wants: wants === "" ? null : `wanted ${wants}`,
    statement: session.statement,
  };
}
