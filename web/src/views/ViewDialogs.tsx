import { ActionIcon, Button, Code, Group, Modal, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconTrash } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useMatches, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { empty } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { client } from "../api/client";
import { queryClient } from "../api/queries";
import { useSession } from "../api/session";
import { Confirm } from "../settings/Confirm";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { isOwn, queryOf, suggested, type View } from "./view";

const fields = { "#/name": "name" };
const changed = () => queryClient.invalidateQueries({ queryKey: ["get", "/api/v1/views"] });
const everybody = "Share with all members of the organization";

/** SaveView keeps the present page under a name. */
export function SaveView({ onClose }: { onClose: () => void }) {
  const router = useRouter();
  const page = useMatches({ select: (matches) => matches[matches.length - 1] });
  const [query] = useState(() => queryOf(router.state.location));
  const form = useForm({
    initialValues: {
      name: suggested(page?.staticData.title ?? "", (page?.search as { tag?: string[] } | undefined)?.tag),
      shared: false,
    },
    validate: { name: empty("a name") },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  return (
    <Modal opened onClose={onClose} title="Save this page" closeButtonProps={{ "aria-label": "Close" }}>
      <form
        noValidate
        onSubmit={onSubmit(async ({ name, shared }) => {
          await client.POST("/api/v1/views", { body: { name: name.trim(), query, shared } });
          await changed();
          say(`${name.trim()} is saved under Views.`);
          onClose();
        })}
      >
        <Stack>
          <TextInput label="Name" maxLength={100} data-autofocus {...form.getInputProps("name")} />
          <Text size="sm" c="dimmed" component="div">
            The view keeps the page with its filters and its time range:{" "}
            <Code style={{ overflowWrap: "anywhere" }}>{query}</Code>
          </Text>
          <Switch label={everybody} {...form.getInputProps("shared", { type: "checkbox" })} />
          {note && <ProblemNote error={note} title="The view was not saved" />}
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

/** ManageViews renames, shares and deletes views. */
export function ManageViews({ views, onClose }: { views: View[]; onClose: () => void }) {
  const [removed, remove] = useState<View | null>(null);
  if (removed) return <Remove view={removed} onClose={() => remove(null)} />;
  return (
    <Modal opened onClose={onClose} title="Manage views" size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      <Stack gap="lg">
        {views.map((view) => (
          <Row key={view.id} view={view} onRemove={() => remove(view)} />
        ))}
        {views.length === 0 && <Text size="sm">No views are left.</Text>}
      </Stack>
    </Modal>
  );
}

function Row({ view, onRemove }: { view: View; onRemove: () => void }) {
  const session = useSession();
  const form = useForm({
    initialValues: { name: view.name, shared: view.shared },
    validate: { name: empty("a name") },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  const differs = form.values.name.trim() !== view.name || form.values.shared !== view.shared;
  const whose = view.author ? `By ${view.author.name}` : "Its author has left";
  return (
    <form
      noValidate
      aria-label={view.name}
      onSubmit={onSubmit(async ({ name, shared }) => {
        await client.PATCH("/api/v1/views/{viewId}", {
          params: { path: { viewId: view.id } },
          body: { name: name.trim(), shared },
        });
        await changed();
        say(`${name.trim()} is saved.`);
      })}
    >
      <Group gap="xs" align="flex-end">
        <TextInput
          label="Name"
          description={isOwn(view, session) ? undefined : whose}
          maxLength={100}
          flex={1}
          miw={180}
          {...form.getInputProps("name")}
        />
        <Switch
          label="Shared"
          disabled={view.author === null}
          mb={8}
          {...form.getInputProps("shared", { type: "checkbox" })}
        />
        <Button type="submit" variant="default" loading={running} disabled={!differs}>
          Save
        </Button>
        <ActionIcon variant="subtle" color="red" size={36} aria-label={`Delete ${view.name}`} onClick={onRemove}>
          <IconTrash size={18} aria-hidden />
        </ActionIcon>
      </Group>
      {note && <ProblemNote error={note} title="The view was not saved" />}
    </form>
  );
}

function Remove({ view, onClose }: { view: View; onClose: () => void }) {
  const remove = useMutation({
    mutationFn: () => client.DELETE("/api/v1/views/{viewId}", { params: { path: { viewId: view.id } } }),
    onSuccess: async () => {
      await changed();
      say(`${view.name} is deleted.`);
      onClose();
    },
  });
  return (
    <Confirm
      danger
      title={`Delete ${view.name}`}
      verb="Delete"
      busy={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate()}
    >
      {view.shared ? "All members of the organization lose this view." : "You lose this view."} The page itself stays as
      it is.
    </Confirm>
  );
}
