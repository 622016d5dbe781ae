import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, client, type Schemas } from "../api/client";
import { Problem } from "../api/problem";
import { say, sayProblem } from "../ui/say";
import { inAll } from "./outcome";

export type Action = "acknowledge" | "mute" | "unmute" | "resolve";

/** Act is what is done, with what somebody writes about it, and until when a mute holds. */
export type Act = { action: Action; note?: string; until?: string };

const done: Record<Action, string> = {
  acknowledge: "Acknowledged.",
  mute: "Muted. It no longer counts in figures and charts.",
  unmute: "Unmuted. It counts again.",
  resolve: "Resolved.",
};

const detailOf = (alertId: string) =>
  api.queryOptions("get", "/api/v1/alerts/{alertId}", { params: { path: { alertId } } });

/** The addresses whose answers an action changes, the alert's own excepted: that came with the action's answer. */
const touched = (address: unknown) =>
  address === "/api/v1/alerts" ||
  address === "/api/v1/alerts/raised-resolved-history" ||
  address === "/api/v1/health-checks/overview";

/** After this long, in milliseconds, lists that lagged behind an action are read again. */
const patience = 2_000;

/** readLists reads again what an action changes, twice where the server says that it lags (contract: X-Muster-Lagging). */
function readLists(queries: QueryClient, lagging: boolean) {
  const read = () => queries.invalidateQueries({ predicate: ({ queryKey }) => touched(queryKey[1]) });
  read();
  if (lagging) setTimeout(read, patience);
}

const told = (text: string, lagging: boolean) => (lagging ? `${text} Lists will update in a moment.` : text);

/**
 * useAlertAction does something to an alert. The answer is the alert as it is now and is shown as it is. Where somebody
 * else was faster (409) the alert is read again. What is refused because of what was written is for the form to say.
 */
export function useAlertAction(alertId: string, settled: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (act: Act) => {
      const { data, response } = await post(act, alertId);
      return { alert: data as Schemas["AlertDetail"], lagging: response.headers.has("X-Muster-Lagging") };
    },
    onSuccess: ({ alert, lagging }, { action }) => {
      queries.setQueryData(detailOf(alertId).queryKey, alert);
      say(told(done[action], lagging));
      readLists(queries, lagging);
      settled();
    },
    onError: (error) => {
      if (error instanceof Problem && error.status === 422) return;
      const stale = error instanceof Problem && error.status === 409;
      sayProblem(error, stale ? "Someone else changed it first" : undefined);
      if (stale) queries.invalidateQueries({ queryKey: detailOf(alertId).queryKey });
      settled();
    },
  });
}

function post({ action, ...body }: Act, alertId: string) {
  const init = { params: { path: { alertId } }, body };
  switch (action) {
    case "acknowledge":
      return client.POST("/api/v1/alerts/{alertId}/acknowledge", init);
    case "mute":
      return client.POST("/api/v1/alerts/{alertId}/mute", init);
    case "unmute":
      return client.POST("/api/v1/alerts/{alertId}/unmute", init);
    case "resolve":
      return client.POST("/api/v1/alerts/{alertId}/resolve", init);
  }
}

/**
 * useAlertsAction does the same with many alerts, and says what came of it. It returns the ids of those with which
 * nothing could be done.
 */
export function useAlertsAction() {
  const queries = useQueryClient();
  return async (ids: string[], act: Act): Promise<string[]> => {
    const { data, response } = await client.POST("/api/v1/alerts/actions", { body: { ids, ...act } });
    const items = data?.items ?? [];
    const lagging = response.headers.has("X-Muster-Lagging");
    const refused = items.filter((item) => !item.done);
    const text = inAll(act.action, items);
    if (refused.length === items.length) sayProblem(text, "Nothing was changed");
    else say(told(text, lagging));
    for (const { id } of items) queries.removeQueries({ queryKey: detailOf(id).queryKey });
    readLists(queries, lagging);
    return refused.map((item) => item.id);
  };
}
