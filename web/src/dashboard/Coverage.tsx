import { api } from "../api/client";
import { useAfterFirst } from "../chart/first";
import { windowQuery } from "../window/query";
import { useScope } from "../window/scope";
import { percent } from "./units";

/**
 * Coverage is how much of the time in which servers executed their statements explain, over the window. It is asked for
 * when there is a chart; where it is not known yet, or cannot be asked for, nothing is said. Servers that cannot tell how
 * long they executed are counted.
 */
export function Coverage() {
  const scope = useScope();
  const afterFirst = useAfterFirst();
  const { bucketSize: _, ...window } = windowQuery(scope);
  const asked = api.useQuery(
    "get",
    "/api/v1/metrics/query-performance/contributors",
    { params: { query: { ...window, series: "average", by: "instance", limit: 1 } } },
    { enabled: afterFirst && !scope.matchesNothing, retry: false },
  );
  if (!asked.data) return null;
  const { coverage, items, others } = asked.data;
  const all = items.length + others.count;
  return (
    <span data-coverage>
      {coverage
        ? `${percent(100 * coverage.share)} explained by statements${coverage.instances < all ? `, on ${coverage.instances} of ${all} servers` : ""} · `
        : "unknown how much statements explain · "}
    </span>
  );
}
