import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { client } from "../api/client";
import { useSession } from "../api/session";
import type { Marks } from "../chart/types";
import { useScope } from "../window/scope";
import { type AlertScope, useAlertScope } from "./fleet";
import { type Marked, marksOf } from "./markedAlerts";

const pageSize = 100;
/** Of more alerts than these, marks would be a wall: the others are left out, and the charts say so. */
const pages = 3;

/** AlertMarks reads the alerts of the window, muted ones left out as in every count, and tells what they are as marks. */
export function AlertMarks({ tell }: { tell: (marks: Marks | null) => void }) {
  const { window, servers, matchesNothing } = useScope();
  const { can } = useSession();
  const { from, to } = window;
  const { scope } = useAlertScope(servers);
  const asked = useQuery({
    queryKey: ["marks", from, scope],
    queryFn: ({ signal }) => read({ from, ...scope }, signal),
    enabled: scope !== null && !matchesNothing && can("alerts:read"),
    placeholderData: keepPreviousData,
  });
  const answer = asked.data;
  const marks = useMemo(
    () => (answer && !matchesNothing ? marksOf(answer.alerts, answer.total, Date.parse(from), Date.parse(to)) : null),
    [answer, matchesNothing, from, to],
  );
  useEffect(() => tell(marks), [marks, tell]);
  return null;
}

type Of = AlertScope & { from: string };

/** An alert that was raised or resolved in a window was seen firing after its beginning, the oldest first. */
async function read(of: Of, signal: AbortSignal) {
  const alerts: Marked[] = [];
  let total = 0;
  for (let page = 1; page <= pages; page++) {
    const { data } = await client.GET("/api/v1/alerts", {
      params: { query: { ...of, muted: "exclude", sort: "lastTriggeredAt", page, pageSize } },
      signal,
    });
    if (!data) break;
    alerts.push(...data.items);
    total = data.page.totalItems;
    if (page >= data.page.totalPages) break;
  }
  return { alerts, total };
}
