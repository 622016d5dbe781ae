import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { type MouseEvent, useState } from "react";
import { whetherAway } from "../api/away";
import { sessionEnded } from "../api/ended";
import { unanswered } from "../api/problem";
import type { Report } from "./status";

const refusals: Record<number, string> = {
  401: "You are no longer signed in. Sign in and try again.",
  403: "Your role cannot download this report. Viewers can download reports they receive.",
  404: "This report no longer exists.",
  409: "The report is not ready yet.",
  410: "This report has expired and its file was deleted. Request the report again.",
};

/** Refusal is why a file cannot be had: the status of the answer (0 is none), and a sentence. */
export type Refusal = { status: number; message: string };

/** askFor asks whether a report's file can be had, without fetching it; null is yes. It is not recorded as a download. */
export async function askFor(url: string): Promise<Refusal | null> {
  const answer = await fetch(url, { method: "HEAD", cache: "no-store", credentials: "same-origin" }).catch(() => null);
  if (answer?.ok) return null;
  if (!answer) return { status: 0, message: `${unanswered((await whetherAway()) !== null).message} Try again.` };
  if (answer.status === 401) sessionEnded.tell();
  const id = answer.headers.get("X-Request-Id");
  const unknown = `The server answered ${answer.status}${id ? `, request ${id}` : ""}. Try again later.`;
  return { status: answer.status, message: refusals[answer.status] ?? unknown };
}

/** fetchFile has the browser save what is at an address. */
export function fetchFile(url: string) {
  const link = document.createElement("a");
  link.href = url;
  link.download = "";
  document.body.append(link);
  link.click();
  link.remove();
}

/** fileURL is the address of one of a report's files. */
export const fileURL = (report: Report, name: string) => `/api/v1/reports/${report.id}/files/${name}`;

/** useFile fetches what is at an address on a click of its link, after asking whether it can be had. */
export function useFile(url: string) {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const onClick = async (event: MouseEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const refused = await askFor(url);
    setBusy(false);
    setRefusal(refused);
    if (!refused) fetchFile(url);
  };
  return { busy, refusal: refusal?.message ?? null, onClick };
}

/** reportsChanged has every list of reports and the report itself read anew, but the tray where it is spared. */
export function reportsChanged(queries: QueryClient, { tray = true } = {}) {
  return queries.invalidateQueries({
    predicate: ({ queryKey: [method, path] }) =>
      method === "get" &&
      typeof path === "string" &&
      (path.startsWith("/api/v1/reports") || (tray && path === "/api/v1/exports")),
  });
}

/**
 * useDownload fetches a report's file on a click of its link, after asking whether it can be had: a browser would save
 * a refusal as a broken file. shown is the report as it then is: 410 makes it Expired, whatever the list still says.
 */
export function useDownload(report: Report, onGone?: (report: Report) => void) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const gone: Report = { ...report, status: "Expired", downloadUrl: null, file: null };
  const onClick = async (event: MouseEvent) => {
    event.preventDefault();
    if (busy || !report.downloadUrl) return;
    setBusy(true);
    const refused = await askFor(report.downloadUrl);
    setBusy(false);
    setRefusal(refused);
    if (!refused) return fetchFile(report.downloadUrl);
    if (refused.status === 410) onGone?.(gone);
    // The tray drops what has expired; the row is to stay and say so.
    if (refused.status >= 404 && refused.status <= 410) await reportsChanged(queries, { tray: false });
  };
  return { shown: refusal?.status === 410 ? gone : report, busy, refusal: refusal?.message ?? null, onClick };
}
