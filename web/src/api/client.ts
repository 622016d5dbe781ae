import createFetchClient, { type Middleware } from "openapi-fetch";
import createQueryClient from "openapi-react-query";
import { take } from "../early/asked";
import { whetherAway } from "./away";
import { noteDate } from "./clock";
import { noteDemo } from "./demo";
import { sessionEnded } from "./ended";
import { failedLikeAway, Problem, unanswered } from "./problem";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** What is read and has not come after this does not come. */
const patience = 60_000;

/**
 * send is fetch with a deadline for what is read. It takes the answer whole, as a connection that breaks in the middle
 * gives none, and notes the server's clock.
 */
async function send(request: Request): Promise<Response> {
  const reading = request.method === "GET";
  const early = reading ? take(request.url) : undefined;
  const signal = reading ? AbortSignal.any([request.signal, AbortSignal.timeout(patience)]) : request.signal;
  // Read at each call: tests put their own fetch in its place.
  const ask = () => globalThis.fetch(request, { signal });
  const asked = Date.now();
  const answer = await (early ? early.answer.catch(ask) : ask());
  noteDate(answer.headers.get("Date"), early?.at ?? asked, Date.now());
  const body = await answer.arrayBuffer();
  const { status, statusText, headers } = answer;
  // An answer like 204 may not have a body, not even an empty one.
  return new Response(body.byteLength > 0 ? body : null, { status, statusText, headers });
}

/** unlessGone is false, too, when nobody waits for the answer any more. */
const unlessGone = (answer: Promise<boolean>, signal: AbortSignal) =>
  Promise.race([
    answer,
    new Promise<false>((resolve) => signal.addEventListener("abort", () => resolve(false), { once: true })),
  ]);

const manners: Middleware = {
  onResponse: async ({ request, response }) => {
    noteDemo(response.headers.get("X-Demo-Data") === "true");
    if (response.ok) return;
    // What is read when the session ends is read again after the next sign-in: until then the page shows what it has.
    if (
      response.status === 401 &&
      request.method === "GET" &&
      (await unlessGone(sessionEnded.tell(), request.signal))
    ) {
      const again = await send(new Request(request));
      if (again.ok) return again;
      response = again;
    }
    const body = (await response.json().catch(() => ({}))) as Partial<Schemas["Problem"]>;
    const problem = new Problem(body, response.status, response.headers);
    problem.away = failedLikeAway(problem) && (await whetherAway()) !== null;
    throw problem;
  },
  onError: async ({ error, request }) => {
    if (error instanceof Problem) return error;
    if (request.signal.aborted) return error as Error;
    return unanswered((await whetherAway()) !== null);
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
  fetch: send,
});
client.use(manners);

/** api is client for TanStack Query: `api.useQuery("get", path, init)`, with the path and init as the query's key. */
export const api = createQueryClient(client);
