import createFetchClient, { type Middleware } from "openapi-fetch";
import createQueryClient from "openapi-react-query";
import { noteDemo } from "./demo";
import { offline, Problem } from "./problem";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

const manners: Middleware = {
  onResponse: async ({ response }) => {
    noteDemo(response.headers.get("X-Demo-Data") === "true");
    if (response.ok) return;
    const body = (await response.json().catch(() => ({}))) as Partial<Schemas["Problem"]>;
    throw new Problem(body, response.status, response.headers);
  },
  onError: ({ error }) => {
    if (error instanceof Problem) return error;
    if (error instanceof DOMException && error.name === "AbortError") return error;
    return offline();
  },
};

/**
 * client calls the API with the types of openapi.yaml; whatever is refused is thrown as a Problem. Answers are always
 * revalidated: what the browser has is taken when the server says 304.
 */
export const client = createFetchClient<paths>({
  baseUrl: location.origin,
  cache: "no-cache",
  credentials: "same-origin",
  headers: { Accept: "application/json" },
  // Read at each call: tests put their own fetch in its place.
  fetch: (request) => globalThis.fetch(request),
});
client.use(manners);

/** api is client for TanStack Query: `api.useQuery("get", path, init)`, with the path and init as the query's key. */
export const api = createQueryClient(client);
