import { useQueryClient } from "@tanstack/react-query";
import { api } from "../api/client";
import type { Instance } from "./standing";

const instancePath = "/api/v1/instances/{instanceId}";

/** useKeep takes a server as an answer gave it, so that the page does not ask for it again. */
export function useKeep(instanceId: string) {
  const queries = useQueryClient();
  return (changed: Instance) => {
    const { queryKey } = api.queryOptions("get", instancePath, { params: { path: { instanceId } } });
    queries.setQueryData(queryKey, changed);
    void queries.invalidateQueries({ queryKey: ["get", "/api/v1/instances"] });
  };
}
