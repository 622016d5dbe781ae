import { Button, Group, Modal, NumberInput, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { empty } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { client } from "../api/client";
import { InstanceSelect } from "../notify/InstanceSelect";
import type { ScheduleForm } from "../schedules/form";
import { WhenFields } from "../schedules/WhenFields";
import { TagWords } from "../teams/TagWords";
import { instantOf } from "../ui/InstantField";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { noTag } from "../url/tagWords";
import { bodyOf, formOf, newWindow, pointers, type Window, type WindowForm } from "./form";

/** Editing is the window that is changed, in the state that the ETag names; null is a new one. */
export type Editing = { window: Window | null; etag: string };

const missing = (value: string, form: WindowForm) =>
  form.recurs || instantOf(value) ? null : "Enter a date and a time.";

/** WindowDialog announces a window, or changes one. */
export function WindowDialog({ window, etag, onClose }: Editing & { onClose: () => void }) {
  const form = useForm<WindowForm>({
    initialValues: window ? formOf(window, new Date()) : newWindow(new Date()),
    validate: { name: empty("a name"), tags: noTag, from: missing, to: missing },
  });
  const { onSubmit, running, note } = useSubmission(form, pointers);
  const queries = useQueryClient();
  const send = async (values: WindowForm) => {
    const body = bodyOf(values);
    const params = { path: { windowId: window?.id ?? "" }, header: { "If-Match": etag } };
    if (window) await client.PATCH("/api/v1/maintenance-windows/{windowId}", { params, body });
    else await client.POST("/api/v1/maintenance-windows", { body });
    say(`The maintenance window ${body.name} is saved.`);
    onClose();
    await queries.invalidateQueries();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={window ? `Edit ${window.name}` : "New maintenance window"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={onSubmit(send)} noValidate aria-label="Maintenance window">
        <Stack>
          <TextInput label="Name" maxLength={200} data-autofocus {...form.getInputProps("name")} />
          <TagWords
            label="Servers with tags"
            value={form.values.tags}
            onChange={(tags) => form.setFieldValue("tags", tags)}
            error={form.errors.tags}
          />
          <InstanceSelect
            label="Additional servers"
            none="None"
            value={form.values.instanceIds}
            onChange={(ids) => form.setFieldValue("instanceIds", ids)}
            error={form.errors.instanceIds}
          />
          <SegmentedControl
            aria-label="How often"
            data={[
              { value: "once", label: "Once" },
              { value: "recurs", label: "Recurring" },
            ]}
            value={form.values.recurs ? "recurs" : "once"}
            onChange={(value) => form.setFieldValue("recurs", value === "recurs")}
          />
          {form.values.recurs ? <Recurring form={form} /> : <Once form={form} />}
          {note && <ProblemNote error={note} title="The window was not saved" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={running}>
              {window ? "Save" : "Announce"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

const Once = ({ form }: { form: UseFormReturnType<WindowForm> }) => (
  <Group align="flex-start" grow>
    <TextInput type="datetime-local" label="Start" {...form.getInputProps("from")} />
    <TextInput type="datetime-local" label="End" {...form.getInputProps("to")} />
  </Group>
);

const Recurring = ({ form }: { form: UseFormReturnType<WindowForm> }) => (
  <>
    {/* It has the fields of a schedule's due time under the same names. */}
    <WhenFields form={form as unknown as UseFormReturnType<ScheduleForm>} />
    <NumberInput label="Minutes" min={1} max={10_080} allowDecimal={false} w={140} {...form.getInputProps("minutes")} />
  </>
);
