import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { client, type Schemas } from "../api/client";
import { serverNow } from "../api/clock";
import { asProblem, fieldErrors, Problem } from "../api/problem";
import { useSession } from "../api/session";
import { plural } from "../ui/format";
import { say } from "../ui/say";
import { bodyOf, type Field, type FieldTexts, type Fill } from "./requestForm";

const pointers: Record<string, Field> = {
  "#/kind": "kind",
  "#/scope/instanceIds": "instanceIds",
  "#/scope/tags": "tags",
  "#/scope/databaseId": "databaseId",
  "#/scope/from": "from",
  "#/scope/to": "to",
  "#/recipientIds": "recipientIds",
  "#/teamIds": "teamIds",
};

/** Refusal is what the server had against a form: by field, and for the rest the problem, its sentences in rest. */
export type Refusal = { fields: FieldTexts; problem: Problem; rest: string[] };

/** Not crypto.randomUUID: that exists on https and loopback only. */
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => n.toString(16).padStart(2, "0")).join("");

/**
 * useSubmit sends a form, once. A form that is sent again because no answer came is sent as it was, with the same key,
 * so that the server makes one report of both. nameOf names a member for who could not be added.
 */
export function useSubmit(nameOf: (memberId: string) => string) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { mail } = useSession();
  const sending = useRef(false);
  const attempt = useRef<{ fill: Fill; key: string; body: Schemas["CreateReport"] } | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [reused, setReused] = useState<Schemas["RequestedReport"] | null>(null);

  const refetch = () => {
    queries.invalidateQueries({ queryKey: ["get", "/api/v1/reports"] });
    queries.invalidateQueries({ queryKey: ["get", "/api/v1/exports"] });
  };

  const mutation = useMutation({
    mutationFn: async (fill: Fill) => {
      if (attempt.current?.fill !== fill) attempt.current = { fill, key: newKey(), body: bodyOf(fill, serverNow()) };
      const { key, body } = attempt.current;
      const { data, response } = await client.POST("/api/v1/reports", {
        params: { header: { "Idempotency-Key": key } },
        body,
      });
      if (!data) throw new Problem({}, response.status);
      return { ...data, lagging: response.headers.get("X-Muster-Lagging") === "true" };
    },
    onSuccess: ({ lagging, ...requested }) => {
      attempt.current = null;
      refetch();
      // The list did not know of it yet when the answer was written.
      if (lagging) setTimeout(refetch, 2_000);
      if (requested.reused) return setReused(requested);
      tell(requested, nameOf, mail);
      return navigate({ to: "/reports/history", search: { kind: requested.report.kind as Fill["kind"] } });
    },
    onError: (error) => {
      const problem = asProblem(error);
      if (problem.status >= 400 && problem.status < 500) attempt.current = null;
      const { fields, rest } = fieldErrors(problem, pointers);
      setRefusal({ fields, problem, rest });
    },
    onSettled: () => {
      sending.current = false;
    },
  });

  const submit = (fill: Fill) => {
    // The second click of a double click comes before the button can be drawn as busy.
    if (sending.current) return;
    sending.current = true;
    setRefusal(null);
    mutation.mutate(fill);
  };
  return {
    submit,
    busy: mutation.isPending,
    refusal,
    /** forgive takes a field's refusal away, once it is edited. */
    forgive: (...edited: Field[]) => setRefusal((was) => was && without(was, edited)),
    reused,
    closeReused: () => setReused(null),
  };
}

function without(refusal: Refusal, edited: Field[]): Refusal | null {
  const fields = Object.fromEntries(Object.entries(refusal.fields).filter(([f]) => !edited.includes(f as Field)));
  return Object.keys(fields).length === 0 ? null : { ...refusal, fields };
}

function tell(
  { report, recipientsNotAdded }: Schemas["RequestedReport"],
  nameOf: (id: string) => string,
  mail: "server" | "outbox",
) {
  const left = recipientsNotAdded.map(nameOf).join(", ");
  say(
    (mail === "server"
      ? `Queued — we will e-mail ${plural(report.recipientCount, "person", "people")}`
      : "Queued. No mail server is set: the e-mail is kept in the outbox") +
      (left && `. Not added, because the limit of ${report.recipientCount} recipients is reached: ${left}`),
  );
}
