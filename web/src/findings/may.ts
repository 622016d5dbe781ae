import { type Reader, type Role, standing } from "../api/session";

/** readers are the roles that read findings: the scope is that of downloads, which viewers have for what they receive. */
export const readers: readonly Role[] = ["member", "auditor", "admin"];

export const readsFindings = (reader: Reader) => readers.includes(standing(reader));

/** makesEvidence says who makes evidence of a check: whoever reads the audit list. */
export const makesEvidence = (role: Role) => role === "auditor" || role === "admin";
