import { Button, Group, Modal, Select, Stack, Switch, TagsInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { empty } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { client, type Schemas } from "../api/client";
import { useSession } from "../api/session";
import { ProblemNote } from "../ui/ProblemNote";
import { Snippet } from "../ui/Snippet";
import { say } from "../ui/say";
import { notificationsChanged } from "./changed";
import { MemberSelect } from "./MemberSelect";
import { OutboxNote } from "./OutboxNote";
import { newSecret, noSecret } from "./secret";
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

const uses: Record<string, { url: string; placeholder: string }> = {
  webhook: {
    url: "Muster posts a signed notification here (Standard Webhooks).",
    placeholder: "https://hooks.example.org/muster",
  },
  chat: {
    url: "The incoming webhook of Slack, or of a chat that takes Slack’s form. The address is a secret and is not shown again.",
    placeholder: "https://hooks.slack.com/services/…",
  },
  alertmanager: {
    url: "Muster keeps this Alertmanager fed with the alerts that match. Routing and silences stay there.",
    placeholder: "http://alertmanager.example.org:9093",
  },
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
  const { mail } = useSession();
  const form = useForm({
    initialValues: {
      name: channel?.name ?? "",
      kind: channel?.kind ?? "email",
      memberIds: channel?.memberIds ?? [],
      administrators: channel?.administrators ?? channel === null,
      addresses: (channel?.addresses ?? []).map(({ address }) => address),
      url: channel && channel.kind !== "chat" ? (channel.url ?? "") : "",
      secret: "",
      format: channel?.format ?? "slack",
    },
    validate: {
      name: empty("a name"),
      memberIds: (ids, { kind, administrators, addresses }) =>
        kind === "email" && ids.length === 0 && addresses.length === 0 && !administrators
          ? "Choose somebody, or all administrators."
          : null,
      url: (url, { kind }) =>
        kind === "email" || (url.trim() === "" && channel?.kind === "chat") ? null : empty("an address")(url),
      secret: (secret, { kind }) =>
        kind !== "webhook" || (secret === "" && channel !== null) ? null : noSecret(secret),
    },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  const { kind, secret } = form.values;
  const use = uses[kind];
  const generated = secret !== "" && noSecret(secret) === null;
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
            ...(values.kind === "email"
              ? {
                  memberIds: values.memberIds,
                  administrators: values.administrators,
                  addresses: values.addresses,
                }
              : values.url.trim() !== "" && { url: values.url.trim() }),
            ...(values.kind === "webhook" && values.secret !== "" && { secret: values.secret.trim() }),
            ...(values.kind === "chat" && { format: values.format as Schemas["ChatFormat"] }),
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
          {kind === "email" && (
            <>
              <OutboxNote />
              <Switch
                label="All administrators"
                description="Everyone who is an administrator at the time."
                checked={form.values.administrators}
                onChange={(event) => form.setFieldValue("administrators", event.currentTarget.checked)}
              />
              <MemberSelect
                value={form.values.memberIds}
                onChange={(ids) => form.setFieldValue("memberIds", ids)}
                error={form.errors.memberIds}
              />
              <TagsInput
                label="Other addresses (optional)"
                description="A team mailbox or a pager. Muster first e-mails a link there. Once the link was used, Muster sends alerts there, never reports."
                placeholder={form.values.addresses.length === 0 ? "dba-team@example.org" : undefined}
                maxTags={20}
                disabled={mail === "outbox" && form.values.addresses.length === 0}
                acceptValueOnBlur
                {...form.getInputProps("addresses")}
              />
            </>
          )}
          {use && (
            <TextInput
              type="url"
              label="Address"
              description={use.url}
              placeholder={channel?.kind === "chat" ? `${channel.url}/… (unchanged)` : use.placeholder}
              maxLength={2000}
              autoComplete="off"
              {...form.getInputProps("url")}
            />
          )}
          {kind === "chat" && (
            <Select
              label="Format"
              description="Microsoft Teams takes neither. Until Muster has a channel for Teams, use an e-mail channel to the address of the Teams channel, or an Alertmanager."
              data={[
                { value: "slack", label: "Slack, and chats that take its form" },
                { value: "mattermost", label: "Mattermost" },
              ]}
              allowDeselect={false}
              {...form.getInputProps("format")}
            />
          )}
          {kind === "webhook" && (
            <>
              <Group align="flex-end" gap="xs" wrap="nowrap">
                <TextInput
                  style={{ flex: 1 }}
                  label="Secret"
                  description={
                    channel
                      ? "Leave it empty to keep the present one."
                      : "The receiver checks signatures with it. It is stored encrypted and never shown again."
                  }
                  placeholder="whsec_…"
                  maxLength={200}
                  autoComplete="off"
                  spellCheck={false}
                  {...form.getInputProps("secret")}
                />
                <Button variant="default" onClick={() => form.setFieldValue("secret", newSecret())}>
                  Generate
                </Button>
              </Group>
              {generated && <Snippet label="Secret for the receiver" text={secret} wrapped />}
            </>
          )}
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
