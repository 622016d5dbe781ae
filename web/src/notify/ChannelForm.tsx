import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { empty } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { client, type Schemas } from "../api/client";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { notificationsChanged } from "./changed";
import { kindOf } from "./kinds";
import type { Values } from "./kinds/kind";
import { type Channel, channelKindName, channelKinds } from "./words";

const fields = {
  "#/name": "name",
  "#/kind": "kind",
  "#/memberIds": "memberIds",
  "#/administrators": "administrators",
  "#/addresses": "addresses",
  "#/url": "url",
  "#/secret": "secret",
  "#/format": "format",
};

/** ChannelForm adds a channel, or changes one; what is not shown of it, like its secret, stays where nothing is entered. */
export function ChannelForm({
  channel,
  onClose,
  onAdded,
}: {
  channel: Channel | null;
  onClose: () => void;
  onAdded?: (id: string) => void;
}) {
  const form = useForm<Values>({
    initialValues: {
      name: channel?.name ?? "",
      kind: channel?.kind ?? "email",
      memberIds: channel?.memberIds ?? [],
      administrators: channel?.administrators ?? channel === null,
      addresses: (channel?.addresses ?? []).map(({ address }) => address),
      url: channel && !kindOf(channel.kind)?.hidesAddress ? (channel.url ?? "") : "",
      secret: "",
      format: channel?.format ?? "slack",
    },
    validate: {
      name: empty("a name"),
      memberIds: (_, values) => kindOf(values.kind)?.noMembers?.(values) ?? null,
      url: (url, { kind }) => {
        const is = kindOf(kind);
        return !is?.address || (url.trim() === "" && channel && is.hidesAddress) ? null : empty("an address")(url);
      },
      secret: (secret, { kind }) => (secret === "" && channel ? null : (kindOf(kind)?.noSecret?.(secret) ?? null)),
    },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  const { kind } = form.values;
  const is = kindOf(kind);
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={channel ? `Edit ${channel.name}` : "Add a channel"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form
        noValidate
        onSubmit={onSubmit(async (values) => {
          const of = {
            name: values.name.trim(),
            ...(is?.address && values.url.trim() !== "" && { url: values.url.trim() }),
            ...is?.body(values),
          };
          if (channel) {
            await client.PATCH("/api/v1/channels/{channelId}", {
              params: { path: { channelId: channel.id } },
              body: of,
            });
          } else {
            const { data } = await client.POST("/api/v1/channels", {
              body: { administrators: false, ...of, kind: values.kind as Schemas["ChannelKind"] },
            });
            if (data) onAdded?.(data.id);
          }
          onClose();
          say(channel ? "Channel saved." : "Channel added. Test it before a rule relies on it.");
          await notificationsChanged();
        })}
      >
        <Stack>
          <Select
            label="Kind"
            data={channelKinds.map((value) => ({ value, label: channelKindName(value) }))}
            allowDeselect={false}
            disabled={channel !== null}
            {...form.getInputProps("kind")}
          />
          <TextInput label="Name" maxLength={200} data-autofocus {...form.getInputProps("name")} />
          {is?.address && (
            <TextInput
              type="url"
              label="Address"
              description={is.address.description}
              placeholder={channel && is.hidesAddress ? `${channel.url}/… (unchanged)` : is.address.placeholder}
              maxLength={2000}
              autoComplete="off"
              {...form.getInputProps("url")}
            />
          )}
          {is?.Fields && <is.Fields form={form} channel={channel} />}
          {note && <ProblemNote error={note} title="The channel was not saved" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={running}>
              {channel ? "Save" : "Add channel"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
