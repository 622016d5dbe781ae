import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, client, type Schemas } from "../api/client";
import { Problem } from "../api/problem";
import { say, sayProblem } from "../ui/say";

export type Action = "acknowledge" | "mute" | "unmute" | "resolve";

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

/**
 * useAlertAction does something to an alert. The answer is the alert as it is now and is shown as it is; lists are read
 * again, twice where the server says that they lag (contract: X-Muster-Lagging). Where somebody else was faster (409)
 * the alert is read again, too.
 */
export function useAlertAction(alertId: string, settled: () => void) {
  const queries = useQueryClient();
  const readLists = () => queries.invalidateQueries({ predicate: ({ queryKey }) => touched(queryKey[1]) });
  return useMutation({
    mutationFn: async (action: Action) => {
      const { data, response } = await post(action, alertId);
      return { alert: data as Schemas["AlertDetail"], lagging: response.headers.has("X-Muster-Lagging") };
    },
    onSuccess: ({ alert, lagging }, action) => {
      queries.setQueryData(detailOf(alertId).queryKey, alert);
      say(lagging ? `${done[action]} Lists will update in a moment.` : done[action]);
      readLists();
      if (lagging) setTimeout(readLists, patience);
    },
    onError: (error) => {
      const stale = error instanceof Problem && error.status === 409;
      sayProblem(error, stale ? "Someone else changed it first" : undefined);
      if (stale) queries.invalidateQueries({ queryKey: detailOf(alertId).queryKey });
    },
    onSettled: settled,
  });
}

function post(action: Action, alertId: string) {
  const init = { params: { path: { alertId } } };
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
