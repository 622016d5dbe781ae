import { type Reader, type Role, standing } from "../api/session";

/** readers are the roles that read findings: the scope is that of downloads, which viewers have for what they receive. */
export const readers: readonly Role[] = ["member", "auditor", "admin"];

export const readsFindings = (reader: Reader) => readers.includes(standing(reader));

/** makesEvidence says who makes evidence of a check: auditors, administrators, and members of a team about its servers. */
export const makesEvidence = (reader: Reader) =>
  reader.role === "auditor" || reader.role === "admin" || (reader.role === "team" && readsFindings(reader));
