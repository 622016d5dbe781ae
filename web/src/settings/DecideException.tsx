import { Code, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { client, type Schemas } from "../api/client";
import { queryClient } from "../api/queries";
import { say } from "../ui/say";
import { Confirm } from "./Confirm";
import { Day } from "./Day";

/** exceptionsChanged has every list of exceptions read anew. */
export const exceptionsChanged = () => queryClient.invalidateQueries({ queryKey: ["get", "/api/v1/exceptions"] });

/** withdraw is what a team's member calls the end of an exception, and revoke what an administrator does. */
export type Decision = { act: "grant" | "revoke" | "withdraw"; exception: Schemas["Exception"] };

/** DecideException asks once more, and grants, refuses or takes back. */
export function DecideException({ decision, onClose }: { decision: Decision; onClose: () => void }) {
  const { act, exception: x } = decision;
  const open = act !== "grant" && x.status === "requested";
  const [verb, done] =
    act === "grant"
      ? ["Grant", "granted"]
      : act === "withdraw"
        ? ["Withdraw", "withdrawn"]
        : open
          ? ["Refuse", "refused"]
          : ["Revoke", "revoked"];
  const decide = useMutation({
    mutationFn: () => {
      const params = { path: { exceptionId: x.id } };
      return act === "grant"
        ? client.POST("/api/v1/exceptions/{exceptionId}/grant", { params })
        : client.POST("/api/v1/exceptions/{exceptionId}/revoke", { params });
    },
    onSuccess: async () => {
      onClose();
      say(`The exception to ${x.checkId} is ${done}.`);
      await exceptionsChanged();
    },
  });
  return (
    <Confirm
      title={`${verb} the exception`}
      verb={verb}
      danger={act !== "grant"}
      busy={decide.isPending}
      error={decide.error}
      onClose={onClose}
      onConfirm={() => decide.mutate()}
    >
      <Text size="sm" mb="xs">
        {x.checkTitle} (<Code>{x.checkId}</Code>), requested by {x.requestedBy.name || "an erased member"} until{" "}
        <Day at={x.until} />:
      </Text>
      <Text size="sm" mb="xs" c="dimmed">
        {x.reason}
      </Text>
      {act === "grant"
        ? "Later reports list its findings separately and exclude them from the score, until the exception expires or is revoked."
        : open
          ? "Its findings stay in the score. This request cannot be granted later, but it can be made again."
          : "The exception ends now. Its findings count again in the next report."}
    </Confirm>
  );
}
