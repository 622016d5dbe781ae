import type { Schemas } from "../api/client";
import type { Finding } from "./FindingsPage";

/** comment is text as SQL leaves it out, line by line: what a server made up does not get out of it. */
const comment = (text: string) =>
  text
    .split(/[\r\n]+/)
    .map((line) => `-- ${line}`.trimEnd())
    .join("\n");

/** oneLine is a name that may have line breaks in it. */
const oneLine = (text: string) => text.replace(/[\r\n]+/g, " ");

/** ended is a statement that another one can follow. */
const ended = (sql: string) => (/;\s*$/.test(sql) ? sql.trimEnd() : `${sql.trimEnd()};`);

/**
 * allOf is the fix, the check and the undo as one text that can be run as it stands, each under a comment that says what
 * it is. The undo is a comment whole: run with the others it would take the fix back. Null where there is only one part.
 */
export function allOf(f: Pick<Finding, "check" | "instance">, r: Schemas["Remediation"]): string | null {
  const { statement, verify, rollback } = r;
  if ([statement, verify, rollback].filter((part) => part !== null).length < 2) return null;
  const where = r.runIn === null ? "in any database" : `in database ${oneLine(r.runIn)}`;
  const parts = [
    comment(`${f.check.id}: ${oneLine(f.check.title)}\nOn ${oneLine(f.instance.name)}, ${where}, as a superuser.`),
  ];
  if (statement !== null) {
    parts.push(`-- Fix\n${ended(statement)}${r.needsRestart ? "\n-- Then restart the server." : ""}`);
  }
  if (verify !== null) parts.push(`-- Check: no row is returned once it is fixed\n${ended(verify)}`);
  if (rollback !== null) {
    parts.push(`-- Undo: restore the measured value. To run it, take the dashes away.\n${comment(ended(rollback))}`);
  }
  return `${parts.join("\n\n")}\n`;
}
