import { Button, Group, Modal, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { empty } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { api, client } from "../api/client";
import { useSession } from "../api/session";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { exceptionsChanged } from "./DecideException";
import { useInstanceChoice } from "./instanceNames";
import { defaultUntil, endOf, firstUntil, lastUntil } from "./until";

const fields = {
  "#/checkId": "checkId",
  "#/instanceId": "instanceId",
  "#/databaseId": "databaseId",
  "#/objectRef": "objectRef",
  "#/reason": "reason",
  "#/until": "until",
};

/** Subject is the finding that the form begins with. */
export type Subject = { checkId: string; instanceId: string | null; databaseId: string | null; objectRef: string };

const anything: Subject = { checkId: "", instanceId: null, databaseId: null, objectRef: "" };

/** RequestException asks to live with a finding; an administrator then decides. */
export function RequestException({ onClose, subject }: { onClose: () => void; subject?: Subject }) {
  const inTeams = useSession().role === "team"; // whose exceptions name a server
  const form = useForm({
    initialValues: {
      ...(subject ?? anything),
      reason: "",
      until: defaultUntil(),
    },
    validate: {
      checkId: empty("the check's code, as printed in a report"),
      instanceId: (value) => (inTeams && value === null ? "Choose an instance." : null),
      reason: empty("the reason"),
      until: (value) => (endOf(value) === null ? "Choose a day." : null),
    },
  });
  const instances = useInstanceChoice();
  const databases = useDatabaseChoice(form.values.instanceId);
  const { onSubmit, running, note } = useSubmission(form, fields);
  return (
    <Modal opened onClose={onClose} title="Request an exception" closeButtonProps={{ "aria-label": "Close" }}>
      <form
        noValidate
        onSubmit={onSubmit(async (values) => {
          await client.POST("/api/v1/exceptions", {
            body: {
              checkId: values.checkId.trim(),
              ...(values.instanceId && { instanceId: values.instanceId }),
              ...(values.databaseId && { databaseId: values.databaseId }),
              ...(values.objectRef.trim() && { objectRef: values.objectRef.trim() }),
              reason: values.reason.trim(),
              until: endOf(values.until) ?? "",
            },
          });
          onClose();
          say("Exception requested. Nothing changes until an administrator grants it.");
          await exceptionsChanged();
        })}
      >
        <Stack>
          <TextInput
            label="Check"
            description="The check's code, or a risk's id (R-2JXXK3J), as printed in a report."
            placeholder="PG-S01"
            maxLength={60}
            data-autofocus
            {...form.getInputProps("checkId")}
          />
          <Select
            label={inTeams ? "Instance" : "Instance (optional)"}
            placeholder={inTeams ? "One of your servers" : "Every instance"}
            data={instances}
            searchable
            clearable
            nothingFoundMessage="No instance matches"
            {...form.getInputProps("instanceId")}
            onChange={(id) => form.setValues({ instanceId: id, databaseId: null })}
          />
          {form.values.instanceId !== null && (
            <Select
              label="Database (optional)"
              placeholder="Every database"
              data={databases}
              searchable
              clearable
              nothingFoundMessage="No database matches"
              {...form.getInputProps("databaseId")}
            />
          )}
          <TextInput
            label="Object (optional)"
            description="Exactly as printed in the report. Leave empty for every object of the check."
            placeholder="public.newsletter"
            maxLength={500}
            {...form.getInputProps("objectRef")}
          />
          <Textarea
            label="Reason"
            description="Kept permanently and printed in reports. Do not enter personal data."
            autosize
            minRows={3}
            maxLength={2000}
            {...form.getInputProps("reason")}
          />
          <TextInput
            type="date"
            label="Until"
            description="The last day (UTC), at most one year ahead."
            min={firstUntil()}
            max={lastUntil()}
            {...form.getInputProps("until")}
          />
          {note && <ProblemNote error={note} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={running}>
              Ask
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function useDatabaseChoice(instanceId: string | null): { value: string; label: string }[] {
  const databases = api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/databases",
    { params: { path: { instanceId: instanceId ?? "" }, query: { pageSize: 200 } } },
    { enabled: instanceId !== null },
  );
  return databases.data?.items.map((d) => ({ value: d.id, label: d.name })) ?? [];
}
