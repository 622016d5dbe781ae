import { Button, Group, Modal, NativeSelect, Radio, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useSubmission } from "../access/useSubmission";
import { serverNow } from "../api/clock";
import { plural } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { nameOf } from "./actions";
import { fieldTime, type MuteLength, muteLengthNames, muteLengths, tomorrowMorning, untilOf } from "./muteFor";
import type { Act, Action } from "./useAlertAction";

const meanings: Record<Action, string> = {
  acknowledge: "The alert stays open and counted. Others see that you are on it.",
  mute: "Muting removes the alert from all figures, charts and history, past ones included.",
  unmute: "Counts again.",
  resolve:
    "Closes it even if its source still reports it. It cannot be reopened; if it fires again, that is a new alert.",
};

const fields = { "#/note": "note", "#/until": "time" };

/**
 * ActDialog asks what is to be done with one alert or many, until when, and for a note. onAct does it; what it throws is
 * said at the fields.
 */
export function ActDialog({
  choices,
  alerts,
  onAct,
  onClose,
}: {
  /** What can be done; the first is chosen. One alone needs no choice. */
  choices: readonly Action[];
  /** How many alerts it is about. */
  alerts: number;
  onAct: (act: Act) => Promise<void>;
  onClose: () => void;
}) {
  const form = useForm<{ action: Action; note: string; length: MuteLength; time: string }>({
    initialValues: {
      action: choices[0] ?? "acknowledge",
      note: "",
      length: "good",
      time: tomorrowMorning(serverNow()),
    },
    validate: {
      time: (time, { action, length }) =>
        action === "mute" && untilOf(length, time, serverNow()) === null
          ? "Choose a time in the future, at most a year ahead."
          : null,
    },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  const { action, length } = form.values;
  const several = alerts > 1;
  const about = several ? ` ${plural(alerts, "alert")}` : "";
  return (
    <Modal
      opened
      onClose={onClose}
      title={choices.length === 1 ? `${nameOf(action)}${about || " the alert"}` : "Act on the alert"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form
        noValidate
        onSubmit={onSubmit(async (values) => {
          const until = values.action === "mute" ? untilOf(values.length, values.time, serverNow()) : undefined;
          await onAct({
            action: values.action,
            ...(values.note.trim() && { note: values.note.trim() }),
            ...(until && { until }),
          });
          onClose();
        })}
      >
        <Stack>
          {choices.length > 1 && (
            <Radio.Group label="Action" {...form.getInputProps("action")}>
              <Group gap="md" mt={6}>
                {choices.map((choice) => (
                  <Radio key={choice} value={choice} label={nameOf(choice)} />
                ))}
              </Group>
            </Radio.Group>
          )}
          <Text size="sm" c="dimmed">
            {meanings[action]}
          </Text>
          {action === "mute" && (
            <NativeSelect
              label="How long"
              data={muteLengths.map((value) => ({
                value,
                label: several && value === "good" ? "Until they are unmuted" : muteLengthNames[value],
              }))}
              {...form.getInputProps("length")}
            />
          )}
          {action === "mute" && length === "time" && (
            <TextInput
              type="datetime-local"
              label="Muted until"
              description="In your time zone. The alert is unmuted then."
              min={fieldTime(serverNow())}
              {...form.getInputProps("time")}
            />
          )}
          <Textarea
            label="Note (optional)"
            description="Shown with the alert, and kept permanently. Do not enter personal data."
            autosize
            minRows={2}
            maxRows={8}
            maxLength={2000}
            data-autofocus
            {...form.getInputProps("note")}
          />
          {note && <ProblemNote error={note} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={running}>
              {nameOf(action)}
              {about}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
