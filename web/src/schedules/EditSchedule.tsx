import { Button } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client } from "../api/client";
import { PageTitle } from "../ui/PageTitle";
import { say } from "../ui/say";
import { schedulesChanged } from "./changed";
import { bodyOf, formOf } from "./form";
import { ScheduleEditor } from "./ScheduleEditor";
import type { Schedule } from "./words";

/** EditSchedule is a schedule as a form; it stays as it was opened while the schedule is read again behind it. */
export function EditSchedule({ schedule }: { schedule: Schedule }) {
  const navigate = useNavigate();
  const [begun] = useState(() => formOf(schedule));
  const path = { scheduleId: schedule.id };
  return (
    <>
      <PageTitle title={`Edit ${schedule.name}`} lead="Changes apply to due times from now on." />
      <ScheduleEditor
        begun={begun}
        owner={schedule.owner}
        kindFixed
        verb="Save"
        cancel={
          <Button
            variant="default"
            renderRoot={(props) => <Link {...props} to="/schedules/$scheduleId" params={path as never} />}
          >
            Cancel
          </Button>
        }
        onSend={async (form) => {
          await client.PATCH("/api/v1/schedules/{scheduleId}", { params: { path }, body: bodyOf(form) });
          await schedulesChanged();
          say("Schedule saved.");
          await navigate({ to: "/schedules/$scheduleId", params: path as never });
        }}
      />
    </>
  );
}
