import { client } from "../api/client";
import type { paths } from "../api/schema";
import type { Instance } from "./states";

type Query = NonNullable<paths["/api/v1/instances"]["get"]["parameters"]["query"]>;

const pageSize = 200;

/** everyInstance is every server that a query leaves, page after page. */
export async function everyInstance(query: Query, signal: AbortSignal): Promise<Instance[]> {
  const found: Instance[] = [];
  for (let page = 1; ; page++) {
    const { data } = await client.GET("/api/v1/instances", { params: { query: { ...query, page, pageSize } }, signal });
    found.push(...(data?.items ?? []));
    if (!data || page >= data.page.totalPages) return found;
  }
}
