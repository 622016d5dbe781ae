import { Button, Group, Modal, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { empty } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { client } from "../api/client";
import { InstanceSelect } from "../notify/InstanceSelect";
import { MemberSelect } from "../notify/MemberSelect";
import { nameOr, useMemberChoices } from "../reports/requestChoices";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { noTag } from "../url/tagWords";
import { TagWords } from "./TagWords";
import { useTeamsChanged } from "./TeamsPage";
import { bodyOf, formOf, newTeam, type Team, type TeamForm, type TeamRole } from "./teamForm";

/** Where a field of the form is in the request. */
const pointers: Record<string, keyof TeamForm> = {
  "#/name": "name",
  "#/selector/tags": "tags",
  "#/selector/instanceIds": "instanceIds",
  "#/members": "memberIds",
};

/** Editing is the team that is changed, in the state that the ETag names; null is a new one. */
export type Editing = { team: Team | null; etag: string };

/** TeamDialog adds a team, or changes one. */
export function TeamDialog({ team, etag, onClose }: Editing & { onClose: () => void }) {
  const form = useForm<TeamForm>({
    initialValues: team ? formOf(team) : newTeam,
    validate: { name: empty("a name"), tags: noTag },
  });
  const { onSubmit, running, note } = useSubmission(form, pointers);
  const changed = useTeamsChanged();
  const send = async (values: TeamForm) => {
    const body = bodyOf(values);
    const seen = { path: { teamId: team?.id ?? "" }, header: { "If-Match": etag } };
    if (team) await client.PATCH("/api/v1/teams/{teamId}", { params: seen, body });
    else await client.POST("/api/v1/teams", { body });
    say(team ? `The team ${body.name} is saved.` : `The team ${body.name} is created.`);
    onClose();
    await changed();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={team ? `Edit ${team.name}` : "New team"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={onSubmit(send)} noValidate aria-label="Team">
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
          <MemberSelect
            value={form.values.memberIds}
            onChange={(ids) => form.setFieldValue("memberIds", ids)}
            error={form.errors.memberIds}
          />
          <Roles form={form.values} onChange={(roles) => form.setFieldValue("roles", roles)} />
          {note && <ProblemNote error={note} title="The team was not saved" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={running}>
              {team ? "Save" : "Create team"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function Roles({ form, onChange }: { form: TeamForm; onChange: (roles: TeamForm["roles"]) => void }) {
  const { named } = useMemberChoices("", form.memberIds);
  if (form.memberIds.length === 0) return null;
  return (
    <Stack gap={6}>
      <Text size="xs" c="dimmed">
        What they may do with these servers matters for members whose role is Team. All others may do what their role
        says.
      </Text>
      {form.memberIds.map((id) => {
        const name = nameOr(named, id, "member");
        return (
          <Group key={id} justify="space-between" wrap="nowrap">
            <Text size="sm" truncate>
              <bdi>{name}</bdi>
            </Text>
            <SegmentedControl
              size="xs"
              aria-label={`Role of ${name}`}
              data={[
                { value: "viewer", label: "Viewer" },
                { value: "member", label: "Member" },
              ]}
              value={form.roles[id] ?? "member"}
              onChange={(role) => onChange({ ...form.roles, [id]: role as TeamRole })}
            />
          </Group>
        );
      })}
    </Stack>
  );
}
