import type { UseFormReturnType } from "@mantine/form";
import { useRef, useState } from "react";
import { sessionEnded } from "../api/ended";
import { asProblem, fieldErrors, Problem } from "../api/problem";

/** Submission is a form's way to the server: once at a time, refusals at their fields, the rest in note. */
export type Submission<V> = {
  /** For `<form onSubmit>`: checks the form, then runs work with its values. */
  onSubmit: (work: (values: V) => Promise<void>) => (event?: React.FormEvent<HTMLFormElement>) => void;
  running: boolean;
  /** What was refused and belongs to no field, for a ProblemNote; null is nothing. */
  note: Problem | null;
  clear: () => void;
};

/** useSubmission sends a form. fields maps the API's JSON Pointers to the form's names: see fieldErrors. */
export function useSubmission<V extends Record<string, unknown>>(
  form: UseFormReturnType<V>,
  fields: Record<string, string>,
): Submission<V> {
  const [running, setRunning] = useState(false);
  const [note, setNote] = useState<Problem | null>(null);
  const busy = useRef(false);

  const focus = (errors: Record<string, unknown>) => {
    const first = firstOnThePage(Object.keys(errors).map((name) => form.getInputNode(name)));
    first?.focus();
  };
  const run = async (work: (values: V) => Promise<void>, values: V) => {
    if (busy.current) return;
    busy.current = true;
    setRunning(true);
    setNote(null);
    try {
      await work(values);
    } catch (error) {
      const problem = asProblem(error);
      // A wrong password is a 401 as well, and ends no session.
      if (problem.status === 401 && problem.code !== "invalid_credentials") void sessionEnded.tell();
      const found = fieldErrors(problem, fields);
      form.setErrors(found.fields);
      if (found.rest.length > 0) setNote(saying(problem, found.rest.join(" ")));
      // A disabled or loading control takes no focus: wait until the refusal is painted.
      requestAnimationFrame(() => focus(found.fields));
    } finally {
      busy.current = false;
      setRunning(false);
    }
  };
  return {
    onSubmit: (work) => form.onSubmit((values) => void run(work, values), focus),
    running,
    note,
    clear: () => setNote(null),
  };
}

/** saying is a problem with another sentence: what is left of it when the fields have theirs. */
function saying(problem: Problem, detail: string): Problem {
  return new Problem({ code: problem.code, detail, requestId: problem.requestId ?? undefined }, problem.status);
}

function firstOnThePage(nodes: (HTMLElement | null)[]): HTMLElement | undefined {
  return nodes
    .filter((node) => node !== null)
    .sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1))[0];
}
