import { api } from "../api/client";
import { useScope } from "../window/scope";
import { useCurrent } from "./asking";

/** useOverview is the counts of what is in scope; a filter that matches nothing asks for none. */
export function useOverview() {
  const { servers, matchesNothing } = useScope();
  return api.useQuery(
    "get",
    "/api/v1/health-checks/overview",
    { params: { query: servers } },
    { enabled: !matchesNothing, ...useCurrent() },
  );
}
