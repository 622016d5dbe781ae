import { Button, Text } from "@mantine/core";
import { IconPencil, IconPower, IconTrash, IconUserCheck } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client, type Schemas } from "../api/client";
import { queryClient } from "../api/queries";
import { type SignedIn, useSession } from "../api/session";
import { noServer } from "../notify/OutboxNote";
import { Confirm } from "../settings/Confirm";
import { say, sayProblem } from "../ui/say";
import { schedulesChanged } from "./changed";
import type { Schedule } from "./words";

/** mayChange says who may change a schedule: its owner and administrators, as long as they may request reports. */
export const mayChange = ({ member, permissions }: Pick<SignedIn, "member" | "permissions">, { owner }: Schedule) =>
  permissions.includes("reports:create") && (owner.id === member.id || permissions.includes("admin"));

/** ScheduleActions is what its owner and administrators can do with a schedule. */
export function ScheduleActions({ schedule: s }: { schedule: Schedule }) {
  const { member, mail } = useSession();
  const [open, setOpen] = useState<"takeOver" | "remove" | null>(null);
  const navigate = useNavigate();
  const params = { path: { scheduleId: s.id } };
  const change = useMutation({
    mutationFn: (body: Schemas["ChangeSchedule"]) => client.PATCH("/api/v1/schedules/{scheduleId}", { params, body }),
    onSuccess: schedulesChanged,
  });
  const remove = useMutation({
    mutationFn: () => client.DELETE("/api/v1/schedules/{scheduleId}", { params }),
    onSuccess: async () => {
      say(`The schedule ${s.name} is removed.`);
      await navigate({ to: "/schedules" });
      queryClient.removeQueries({ queryKey: ["get", "/api/v1/schedules/{scheduleId}", { params }] });
      await schedulesChanged();
    },
  });
  const toggle = () =>
    change.mutate(
      { enabled: !s.enabled },
      {
        onSuccess: () => say(s.enabled ? `${s.name} is off.` : `${s.name} is on.`),
        onError: (error) => sayProblem(error),
      },
    );
  return (
    <>
      {s.owner.id !== member.id && (
        <Button
          variant="default"
          leftSection={<IconUserCheck size={16} aria-hidden />}
          onClick={() => setOpen("takeOver")}
        >
          Take over
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<IconPower size={16} aria-hidden />}
        loading={change.isPending && open === null}
        onClick={toggle}
      >
        {s.enabled ? "Switch off" : "Switch on"}
      </Button>
      <Button
        variant="default"
        leftSection={<IconPencil size={16} aria-hidden />}
        renderRoot={(props) => (
          <Link
            {...props}
            to="/schedules/$scheduleId"
            params={{ scheduleId: s.id } as never}
            search={{ edit: "yes" } as never}
          />
        )}
      >
        Edit
      </Button>
      <Button variant="default" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setOpen("remove")}>
        Remove
      </Button>
      {open === "takeOver" && (
        <Confirm
          title={`Take over ${s.name}`}
          verb="Take over"
          busy={change.isPending}
          error={change.error}
          onClose={() => setOpen(null)}
          onConfirm={() =>
            change.mutate(
              { takeOver: true },
              {
                onSuccess: () => {
                  setOpen(null);
                  say(`You own the schedule ${s.name} now.`);
                },
              },
            )
          }
        >
          You become the owner in place of <bdi>{s.owner.name || "an erased member"}</bdi>. Reports are then requested
          in your name and e-mailed to you.{noServer(mail)}
        </Confirm>
      )}
      {open === "remove" && (
        <Confirm
          danger
          title={`Remove ${s.name}`}
          verb="Remove"
          busy={remove.isPending}
          error={remove.error}
          onClose={() => setOpen(null)}
          onConfirm={() => remove.mutate()}
        >
          <Text size="sm">No more reports are requested. Reports that exist already stay.</Text>
        </Confirm>
      )}
    </>
  );
}
