import type { components } from "./schema";

export type FieldError = components["schemas"]["FieldError"];

/** Problem is a refusal or failure as the API words it (RFC 9457); without an answer its code is `offline`. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly errors: FieldError[];
  /** Seconds after which to ask again; null where the server does not say. */
  readonly retryAfter: number | null;
  /** The server was away: what was asked can be asked again when it is back. */
  away = false;

  constructor(body: Partial<components["schemas"]["Problem"]>, status = 0, headers = new Headers()) {
    super(body.detail || body.title || `The server answered ${status}.`);
    this.status = status;
    this.code = body.code ?? (status === 0 ? "offline" : "unknown");
    this.requestId = body.requestId ?? headers.get("X-Request-Id");
    this.errors = body.errors ?? [];
    const seconds = Number(headers.get("Retry-After"));
    this.retryAfter = Number.isFinite(seconds) && seconds > 0 ? seconds : null;
  }
}

/** failedLikeAway says that a request failed as all do while the server, or a proxy's way to it, is gone. */
export const failedLikeAway = ({ status }: Problem) => status === 0 || (status >= 502 && status <= 504);

/** unanswered is a request that no answer came to; where the server is away that is why. */
export function unanswered(away: boolean): Problem {
  const problem = new Problem({
    code: "offline",
    detail: away ? "The server cannot be reached." : "The server did not answer.",
  });
  problem.away = away;
  return problem;
}

/** asProblem turns whatever was thrown into a Problem, so that every failure is shown the same way. */
export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem({ code: "page_error", detail: String(error) });
}

const sentence = (clause: string) => `${clause.charAt(0).toUpperCase()}${clause.slice(1).replace(/\.$/, "")}.`;

/**
 * fieldErrors sorts a problem's errors to the fields of a form. fields maps a JSON Pointer, as the API writes it
 * (`#/scope/to`), to the form's name for it; a pointer below one of them (`#/scope/instanceIds/3`) is that field's.
 * What belongs to no field is in rest, as sentences; a problem without errors is its own sentence there.
 */
export function fieldErrors(
  problem: Problem,
  fields: Record<string, string>,
): { fields: Record<string, string>; rest: string[] } {
  const found: Record<string, string> = {};
  const rest: string[] = [];
  for (const e of problem.errors) {
    const pointer = e.pointer ?? e.parameter ?? "";
    const at = Object.keys(fields).find((p) => pointer === p || pointer.startsWith(`${p}/`));
    const field = at === undefined ? undefined : fields[at];
    if (field === undefined) rest.push(sentence(pointer ? `${pointer.replace("#/", "")} ${e.detail}` : e.detail));
    else found[field] = [found[field], sentence(e.detail)].filter(Boolean).join(" ");
  }
  if (problem.errors.length === 0) rest.push(sentence(problem.message));
  return { fields: found, rest };
}
