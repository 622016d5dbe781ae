import type { Schemas } from "../api/client";
import { type Kind, kinds } from "./kinds";

/** RequestSearch is what the address of the request form says: contract §17. */
export type RequestSearch = {
  kind?: Kind;
  instanceId?: string[];
  /** In place of the servers: those that have the tags. */
  tag?: string[];
  databaseId?: string;
  range?: "7d" | "30d";
  from?: string;
  to?: string;
  recipientId?: string[];
  /** Teams whose members are recipients. */
  teamId?: string[];
};

/**
 * requestAgainSearch is the address of the request form, filled in as a past report was requested:
 * `<Link to="/reports/view" search={requestAgainSearch(report)}>`. Its window stays the one that was reported on; its
 * recipients go along where the report was read with them (GET /reports/{id}).
 */
export function requestAgainSearch(report: Pick<Schemas["Report"], "kind" | "scope" | "recipients">): RequestSearch {
  const { instanceIds, databaseId, from, to } = report.scope;
  const kind = kinds.find((k) => k === report.kind);
  const recipients = report.recipients?.map((r) => r.id) ?? [];
  return {
    ...(kind && { kind }),
    ...(instanceIds.length > 0 && { instanceId: instanceIds }),
    ...(databaseId && { databaseId }),
    ...(from && to && { from: new Date(from).toISOString(), to: new Date(to).toISOString() }),
    ...(recipients.length > 0 && { recipientId: recipients }),
  };
}
