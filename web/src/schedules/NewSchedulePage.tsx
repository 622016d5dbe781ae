import { Button } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { client } from "../api/client";
import { useSession } from "../api/session";
import { noServer } from "../notify/OutboxNote";
import { PageTitle } from "../ui/PageTitle";
import { say } from "../ui/say";
import { schedulesChanged } from "./changed";
import { bodyOf, newForm } from "./form";
import { ScheduleEditor } from "./ScheduleEditor";
import { ownZone } from "./words";

/** NewSchedulePage has a report requested by the calendar; its address may say which, as that of the request form. */
export function NewSchedulePage() {
  const search = useSearch({ from: "/schedules/new" });
  const { member, mail } = useSession();
  const navigate = useNavigate();
  const [begun] = useState(() => newForm(search, ownZone()));
  return (
    <>
      <PageTitle
        title="New schedule"
        lead={`You own the schedule: Muster requests its reports in your name, and always e-mails you.${noServer(mail)}`}
      />
      <ScheduleEditor
        begun={begun}
        owner={member}
        verb="Create schedule"
        cancel={
          <Button variant="default" renderRoot={(props) => <Link {...props} to="/schedules" />}>
            Cancel
          </Button>
        }
        onSend={async (form) => {
          const { data } = await client.POST("/api/v1/schedules", {
            body: { kind: form.kind, ...bodyOf(form), enabled: true },
          });
          await schedulesChanged();
          say("Schedule created.");
          if (data) await navigate({ to: "/schedules/$scheduleId", params: { scheduleId: data.id } as never });
        }}
      />
    </>
  );
}
