import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { empty, noAddress } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { client, type Schemas } from "../api/client";
import type { Role } from "../api/session";
import { ProblemNote } from "../ui/ProblemNote";
import { Snippet } from "../ui/Snippet";
import { membersChanged } from "./members";
import { RoleChoice } from "./roles";

const fields = { "#/email": "email", "#/name": "name", "#/role": "role" };

/** InviteMember asks whom to invite. onInvited is given the link, which the server tells only then. */
export function InviteMember({
  onInvited,
  onClose,
}: {
  onInvited: (invited: Schemas["Invited"]) => void;
  onClose: () => void;
}) {
  const form = useForm({
    initialValues: { email: "", name: "", role: "member" as Role },
    validate: { email: noAddress, name: empty("their name") },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  return (
    <Modal opened onClose={onClose} title="Invite a member" closeButtonProps={{ "aria-label": "Close" }}>
      <form
        noValidate
        onSubmit={onSubmit(async ({ email, name, role }) => {
          const { data } = await client.POST("/api/v1/members", {
            body: { email: email.trim(), name: name.trim(), role },
          });
          await membersChanged();
          if (data) onInvited(data);
        })}
      >
        <Stack>
          <TextInput
            label="E-mail address"
            type="email"
            maxLength={320}
            data-autofocus
            {...form.getInputProps("email")}
          />
          <TextInput label="Name" maxLength={200} {...form.getInputProps("name")} />
          <RoleChoice value={form.values.role} onChange={(role) => form.setFieldValue("role", role)} />
          {note && <ProblemNote error={note} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={running}>
              Invite
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** InvitationLink shows a new invitation's link, once, and whether Muster e-mailed it. */
export function InvitationLink({ invited, onClose }: { invited: Schemas["Invited"]; onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Invitation for ${invited.member.name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        <Text size="sm">
          {invited.mailed
            ? `Muster e-mailed this link to ${invited.member.email}.`
            : invited.mailError
              ? `Muster could not e-mail this link: ${invited.mailError} Send it to ${invited.member.email} yourself over a private channel.`
              : `No mail server is set, so Muster does not e-mail this link. Send it to ${invited.member.email} yourself over a private channel.`}{" "}
          It can be used once, is valid for 24 hours, and is not shown again.
        </Text>
        <Snippet label="Invitation link" text={invited.inviteUrl} wrapped />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
