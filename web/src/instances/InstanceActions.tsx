import { Button, Group, Menu, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconChevronDown, IconPencil, IconPlugConnected, IconPower, IconTrash } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client";
import { asProblem, fieldErrors } from "../api/problem";
import { ProblemNote } from "../ui/ProblemNote";
import { say, sayProblem } from "../ui/say";
import { TypedConfirm } from "../ui/TypedConfirm";
import { Connection, ConnectionFailed, connectionProblems, emptyConnection, fieldOfDsn, typedDsn } from "./Connection";
import { connectedEngine } from "./engines";
import type { Instance } from "./standing";
import { useKeep } from "./useKeep";

const instancePath = "/api/v1/instances/{instanceId}";

/** InstanceActions is what an administrator may change of a server. */
export function InstanceActions({ instance: i }: { instance: Instance }) {
  const [open, setOpen] = useState<"name" | "connection" | "removal" | null>(null);
  const keep = useKeep(i.id);
  const change = api.useMutation("patch", instancePath);
  const close = () => setOpen(null);
  const switchTo = (active: boolean) =>
    change.mutate(
      { params: { path: { instanceId: i.id } }, body: { active } },
      {
        onSuccess: (changed) => {
          keep(changed);
          say(active ? `${i.name} is monitored again.` : `${i.name} is no longer monitored.`);
        },
        onError: (error) => sayProblem(error),
      },
    );
  return (
    <>
      <Menu position="bottom-end" shadow="md" width={230}>
        <Menu.Target>
          <Button variant="default" rightSection={<IconChevronDown size={16} aria-hidden />} loading={change.isPending}>
            Change
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setOpen("name")}>
            Rename
          </Menu.Item>
          <Menu.Item leftSection={<IconPower size={16} aria-hidden />} onClick={() => switchTo(!i.active)}>
            {i.active ? "Deactivate" : "Activate"}
          </Menu.Item>
          {connectedEngine(i.engine) && (
            <Menu.Item leftSection={<IconPlugConnected size={16} aria-hidden />} onClick={() => setOpen("connection")}>
              {i.collected ? "Change the connection" : "Add a connection"}
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setOpen("removal")}>
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={open === "name"}
        onClose={close}
        title={`Rename ${i.name}`}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <Rename instance={i} onDone={close} />
      </Modal>
      <Modal
        opened={open === "connection"}
        onClose={close}
        title={`Connection of ${i.name}`}
        size="lg"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <NewConnection instance={i} onDone={close} />
      </Modal>
      <Removal instance={i} opened={open === "removal"} onClose={close} />
    </>
  );
}

function Rename({ instance: i, onDone }: { instance: Instance; onDone: () => void }) {
  const keep = useKeep(i.id);
  const change = api.useMutation("patch", instancePath);
  const form = useForm({
    initialValues: { name: i.name },
    validate: { name: (name) => (name.trim() === "" ? "Enter a name." : null) },
  });
  const submit = form.onSubmit(({ name }) =>
    change.mutate(
      { params: { path: { instanceId: i.id } }, body: { name: name.trim() } },
      {
        onSuccess: (changed) => {
          keep(changed);
          say(`${i.name} is now called ${changed.name}.`);
          onDone();
        },
        onError: (error) => form.setErrors(fieldErrors(asProblem(error), { "#/name": "name" }).fields),
      },
    ),
  );
  const unplaced = change.error && Object.keys(form.errors).length === 0;
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label="Name"
          description="Existing reports keep the old name."
          maxLength={200}
          autoComplete="off"
          data-autofocus
          key={form.key("name")}
          {...form.getInputProps("name")}
        />
        {unplaced && <ProblemNote error={change.error} />}
        <Buttons busy={change.isPending} onCancel={onDone} verb="Rename" />
      </Stack>
    </form>
  );
}

function NewConnection({ instance: i, onDone }: { instance: Instance; onDone: () => void }) {
  const keep = useKeep(i.id);
  const change = api.useMutation("patch", instancePath);
  const form = useForm({
    initialValues: { ...emptyConnection(i.engine), host: i.host === "localhost" ? "" : (i.host ?? "") },
    validate: connectionProblems,
  });
  const submit = (separate: boolean) =>
    form.onSubmit((typed) =>
      change.mutate(
        { params: { path: { instanceId: i.id } }, body: { dsn: typedDsn(typed), ...(separate && { separate }) } },
        {
          onSuccess: (changed) => {
            keep(changed);
            say(`${i.name} now uses the new connection.`);
            onDone();
          },
          onError: (error) => {
            const problem = asProblem(error);
            form.setErrors(fieldErrors(problem, { "#/dsn": fieldOfDsn(problem, typed) }).fields);
          },
        },
      ),
    );
  return (
    <form onSubmit={submit(false)} noValidate>
      <Stack>
        <Connection form={form} />
        {change.error && <ConnectionFailed engine={i.engine} error={change.error} onSeparate={() => submit(true)()} />}
        <Buttons busy={change.isPending} onCancel={onDone} verb="Test and save" />
      </Stack>
    </form>
  );
}

function Buttons({ busy, onCancel, verb }: { busy: boolean; onCancel: () => void; verb: string }) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" loading={busy}>
        {verb}
      </Button>
    </Group>
  );
}

function Removal({ instance: i, opened, onClose }: { instance: Instance; opened: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const remove = api.useMutation("delete", instancePath);
  const confirmed = () =>
    remove.mutate(
      { params: { path: { instanceId: i.id } } },
      {
        onSuccess: async () => {
          say(`${i.name} was removed.`);
          await navigate({ to: "/instances" });
          await queries.invalidateQueries({ queryKey: ["get", "/api/v1/instances"] });
        },
      },
    );
  return (
    <TypedConfirm
      opened={opened}
      onClose={onClose}
      onConfirm={confirmed}
      title={`Remove ${i.name}`}
      name={i.name}
      verb="Remove"
      danger
      busy={remove.isPending}
      error={remove.error}
    >
      <Text size="sm">
        This removes the instance from all lists and deletes its connection. Alerts, finished reports and event log
        entries stay. If you add it again, it is a new instance. To pause monitoring, deactivate it instead.
      </Text>
    </TypedConfirm>
  );
}
