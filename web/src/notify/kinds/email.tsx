import { Switch, TagsInput } from "@mantine/core";
import { useSession } from "../../api/session";
import { MemberSelect } from "../MemberSelect";
import { OutboxNote } from "../OutboxNote";
import type { ChannelKind, FieldsProps } from "./kind";

function Recipients({ form }: FieldsProps) {
  const { mail } = useSession();
  return (
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
  );
}

export const email: ChannelKind = {
  title: "E-mail",
  protocol: "SMTP",
  Fields: Recipients,
  noMembers: ({ memberIds, addresses, administrators }) =>
    memberIds.length === 0 && addresses.length === 0 && !administrators
      ? "Choose at least one member, or all administrators."
      : null,
  body: ({ memberIds, administrators, addresses }) => ({ memberIds, administrators, addresses }),
};
