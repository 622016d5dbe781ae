// What was asked for before the application's code was there, for the client that asks for the same when it is.

/** Asked is an answer on its way, and when it was asked for. */
type Asked = { at: number; answer: Promise<Response> };

const asked = new Map<string, Asked>();

/** Nobody is given an answer that is older. */
const fresh = 30_000;

/** What has not come after this does not come. */
const patience = 60_000;

/** ask asks as the client does. A failure is nobody's: whoever wants the answer asks again. */
export function ask(path: string, query: Record<string, string | string[]> = {}): Promise<Response> {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) url.searchParams.append(name, one);
  const answer = fetch(url, {
    cache: "no-cache",
    credentials: "same-origin",
    headers: { Accept: "application/json" },
    signal: AbortSignal.timeout(patience),
  });
  asked.set(url.href, { at: Date.now(), answer });
  return answer;
}

/** take is the answer to an address that was asked for, once; undefined where none is to be had. */
export function take(address: string): Asked | undefined {
  const found = asked.get(address);
  asked.delete(address);
  return found && Date.now() - found.at < fresh ? found : undefined;
}
