import { ActionIcon, Button, Group, Modal, NumberInput, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useSubmission } from "../access/useSubmission";
import { client } from "../api/client";
import { InstanceSelect } from "../notify/InstanceSelect";
import { TagWords } from "../teams/TagWords";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { noTag } from "../url/tagWords";
import classes from "./objectives.module.css";
import { bodyOf, type Line, lineOf, type Objective } from "./words";

/** Editing is the list that is changed, in the state that the ETag names. */
export type Editing = { items: Objective[]; etag: string };

/** pointersOf are the API's names of the fields of so many lines. */
const pointersOf = (lines: number) =>
  Object.fromEntries(
    Array.from({ length: lines }, (_, i) => [
      [`#/items/${i}/availabilityPercent`, `lines.${i}.percent`],
      [`#/items/${i}/latencyMs`, `lines.${i}.latency`],
      [`#/items/${i}/selector/tags`, `lines.${i}.tags`],
      [`#/items/${i}/selector/instanceIds`, `lines.${i}.instanceIds`],
      [`#/items/${i}/selector`, `lines.${i}.tags`],
      [`#/items/${i}`, `lines.${i}.percent`],
    ]).flat(),
  );

/** ObjectivesDialog changes the list of objectives as a whole. */
export function ObjectivesDialog({ items, etag, onClose }: Editing & { onClose: () => void }) {
  const form = useForm<{ lines: Line[] }>({
    initialValues: { lines: items.map((o, i) => lineOf(o, String(i))) },
    validate: { lines: { tags: noTag } },
  });
  const lines = form.values.lines;
  const { onSubmit, running, note } = useSubmission(form, pointersOf(lines.length));
  const queries = useQueryClient();
  const send = async (values: { lines: Line[] }) => {
    await client.PUT("/api/v1/objectives", { params: { header: { "If-Match": etag } }, body: bodyOf(values.lines) });
    say("The objectives are saved.");
    onClose();
    await queries.invalidateQueries();
  };
  const add = () => form.insertListItem("lines", { ...lineOf({ selector: {}, window: "month" }, crypto.randomUUID()) });
  const move = (i: number, to: number) => form.reorderListItem("lines", { from: i, to });
  return (
    <Modal opened onClose={onClose} size="lg" title="Edit objectives" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={onSubmit(send)} noValidate aria-label="Objectives">
        <Stack>
          <Text size="sm" c="dimmed">
            The first line that selects a server counts for it. Without tags and servers, the last line is about all
            others.
          </Text>
          {lines.map((line, i) => (
            <fieldset key={line.key} className={classes.line}>
              <legend>
                <Text size="sm" fw={600} component="span">
                  Line {i + 1}
                </Text>
              </legend>
              <Stack gap="xs">
                <TagWords
                  label="Servers with tags"
                  value={line.tags}
                  onChange={(tags) => form.setFieldValue(`lines.${i}.tags`, tags)}
                  error={form.errors[`lines.${i}.tags`]}
                />
                <InstanceSelect
                  label="Additional servers"
                  none="None"
                  value={line.instanceIds}
                  onChange={(ids) => form.setFieldValue(`lines.${i}.instanceIds`, ids)}
                  error={form.errors[`lines.${i}.instanceIds`]}
                />
                <Group grow align="start">
                  <NumberInput
                    label="Availability in percent"
                    min={50}
                    max={99.999}
                    decimalScale={3}
                    step={0.1}
                    {...form.getInputProps(`lines.${i}.percent`)}
                  />
                  <NumberInput
                    label="Mean latency in ms, at most"
                    min={0.001}
                    {...form.getInputProps(`lines.${i}.latency`)}
                  />
                </Group>
                <Group gap={6} justify="flex-end">
                  <ActionIcon
                    variant="default"
                    aria-label={`Move line ${i + 1} up`}
                    disabled={i === 0}
                    onClick={() => move(i, i - 1)}
                  >
                    <IconArrowUp size={16} aria-hidden />
                  </ActionIcon>
                  <ActionIcon
                    variant="default"
                    aria-label={`Move line ${i + 1} down`}
                    disabled={i === lines.length - 1}
                    onClick={() => move(i, i + 1)}
                  >
                    <IconArrowDown size={16} aria-hidden />
                  </ActionIcon>
                  <ActionIcon
                    variant="default"
                    aria-label={`Remove line ${i + 1}`}
                    onClick={() => form.removeListItem("lines", i)}
                  >
                    <IconTrash size={16} aria-hidden />
                  </ActionIcon>
                </Group>
              </Stack>
            </fieldset>
          ))}
          <Group>
            <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={add}>
              Add a line
            </Button>
          </Group>
          {note && <ProblemNote error={note} title="The objectives were not saved" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={running}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
