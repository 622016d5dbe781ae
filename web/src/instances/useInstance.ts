import { useEffect, useState } from "react";
import { api } from "../api/client";
import { usePolling } from "../api/polling";
import { say, sayProblem } from "../ui/say";
import { endOf } from "./assessed";
import { awaited, type Instance } from "./standing";

/** An assessment ends within seconds, or a collector is not free: after this nobody waits any more. Milliseconds. */
const patience = 120_000;

const moving = 2_000;
const standing = 30_000;

/**
 * useInstance is a server, and what has it assessed now: that is followed until it is done or has failed, which is said.
 * onAssessed is what else to read then.
 */
export function useInstance(
  instanceId: string,
  { enabled = true, onAssessed }: { enabled?: boolean; onAssessed?: () => void } = {},
) {
  const [asked, setAsked] = useState<Instance | null>(null); // as it was when it was asked for
  const path = { params: { path: { instanceId } } };
  const polling = usePolling<Instance>((i) => (asked || awaited(i) ? moving : standing));
  const { data, error, refetch } = api.useQuery("get", "/api/v1/instances/{instanceId}", path, { enabled, ...polling });
  const end = asked && data ? endOf(data, asked) : null;
  const failure = data?.lastError;
  useEffect(() => {
    if (!asked || !end) return;
    setAsked(null);
    if (end === "failed") {
      sayProblem(failure, `${asked.name} was not assessed`);
    } else {
      onAssessed?.();
      say(`${asked.name} was assessed.`);
    }
  }, [asked, end, failure, onAssessed]);
  // Not by what is read: the same answer again draws nothing.
  useEffect(() => {
    if (!asked) return;
    const over = setTimeout(() => {
      setAsked(null);
      say(`${asked.name} still waits to be assessed: no collector is free, or it takes longer than two minutes.`);
    }, patience);
    return () => clearTimeout(over);
  }, [asked]);
  const { mutate, isPending } = api.useMutation("post", "/api/v1/instances/{instanceId}/assess");
  const assess = () =>
    mutate(path, {
      onSuccess: (answer) => {
        setAsked(answer);
        void refetch();
      },
      onError: (problem) => sayProblem(problem, `${data?.name} is not being assessed`),
    });
  return { instance: data, error, refetch, assess, isAsking: isPending, isAssessing: asked !== null };
}
