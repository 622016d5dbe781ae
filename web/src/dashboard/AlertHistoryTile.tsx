import { api, type Schemas } from "../api/client";
import { palette } from "../chart/palette";
import { count } from "../ui/format";
import { useScope } from "../window/scope";
import { windowBefore } from "../window/window";
import { useAlertScope } from "./fleet";
import { countedOf, sinceMonitored, startMarker } from "./history";
import { type Drawing, Tile } from "./Tile";

export function drawAlerts(answer: Schemas["AlertHistory"]): Drawing {
  const { active, resolved } = sinceMonitored(answer);
  return {
    series: [
      { key: "active", label: "Firing", color: palette.active, values: active },
      { key: "resolved", label: "Resolved", color: palette.resolved, values: resolved },
    ],
    format: (v) => count(v),
    markers: startMarker(answer),
  };
}

const bucketNames: Record<string, string> = { "1m": "minute", "1h": "hour", "1d": "day", "1w": "week" };

/** The last bucket may have fewer than are open, and says why: nobody has reported those again. */
const eachBucket = ({ bucketSize }: Schemas["AlertHistory"]) =>
  `in each ${bucketNames[bucketSize] ?? "interval"}, without muted alerts. An open alert counts as firing until it was last reported, so fewer may fire than are open now`;

/** AlertHistoryTile is how many alerts were firing and how many were resolved in each bucket, muted ones left out. */
export function AlertHistoryTile() {
  const { window, servers, compares } = useScope();
  const { scope, error, retry } = useAlertScope(servers);
  const { from, to, bucketSize } = window;
  const history = api.useQuery(
    "get",
    "/api/v1/alerts/raised-resolved-history",
    { params: { query: { from, to, bucketSize, ...scope } } },
    { enabled: scope !== null },
  );
  const before = api.useQuery(
    "get",
    "/api/v1/alerts/raised-resolved-history",
    { params: { query: { ...windowBefore(window), bucketSize, ...scope } } },
    { enabled: compares && scope !== null },
  );
  const nameless = scope === null && error !== null;
  return (
    <Tile
      title="Alert history"
      about="Alerts seen firing, or resolved"
      note={eachBucket}
      asked={{
        data: history.data,
        error: nameless ? error : history.error,
        isError: nameless || history.isError,
        isFetching: history.isFetching || (scope === null && !nameless),
        refetch: nameless ? retry : history.refetch,
      }}
      before={before}
      draw={drawAlerts}
      whole="firing"
      counted={countedOf}
    />
  );
}
