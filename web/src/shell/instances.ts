import { keepPreviousData } from "@tanstack/react-query";
import { api } from "../api/client";
import { type Filter, namesNone } from "../window/query";

const page = 200;
const found = 50;

/** useInstances is the first 200 instances, or with a query the 50 first that match it. */
export const useInstances = (q: string, enabled = true) =>
  api.useQuery(
    "get",
    "/api/v1/instances",
    { params: { query: q === "" ? { pageSize: page, sort: "name" } : { q, pageSize: found, sort: "name" } } },
    { enabled, placeholderData: keepPreviousData },
  );

/** useChosenInstances resolves the ids of a filter; ids that nobody has are not in it. Without ids it asks nothing. */
export const useChosenInstances = (ids: string[] | undefined) =>
  api.useQuery(
    "get",
    "/api/v1/instances",
    { params: { query: { id: ids ?? [], pageSize: page } } },
    { enabled: ids !== undefined && ids.length > 0 },
  );

/** useMatching counts the instances that a filter leaves. */
export const useMatching = ({ owner, instanceId, tag }: Filter) =>
  api.useQuery(
    "get",
    "/api/v1/instances",
    { params: { query: { id: instanceId, tag, owner, pageSize: 1 } } },
    { enabled: !namesNone({ instanceId, tag }), placeholderData: keepPreviousData },
  );
