import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, client, type Schemas } from "../api/client";
import { asProblem } from "../api/problem";
import { askAgainWhoIsSignedIn } from "../api/queries";
import { type Role, useSession } from "../api/session";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { TypedConfirm } from "../ui/TypedConfirm";
import { Confirm } from "./Confirm";
import { membersChanged } from "./members";
import { RoleChoice, roleName } from "./roles";

/** What is to be done with a member. */
export type Intent = { act: "role" | "disable" | "enable" | "renew" | "erase"; member: Schemas["Member"] };

type Dialog = {
  member: Schemas["Member"];
  onClose: () => void;
  /** The member must stay an administrator: the list says so at their name. */
  onLastAdmin: (member: Schemas["Member"]) => void;
};

/** MemberDialog asks about what is to be done with a member, and does it. */
export function MemberDialog({
  intent,
  onRenewed,
  ...dialog
}: { intent: Intent; onRenewed: (invited: Schemas["Invited"]) => void } & Omit<Dialog, "member">) {
  const { act, member } = intent;
  if (act === "role") return <ChangeRole member={member} {...dialog} />;
  if (act === "renew") return <Renew member={member} onRenewed={onRenewed} onClose={dialog.onClose} />;
  if (act === "erase") return <Erase member={member} {...dialog} />;
  return <ChangeStatus member={member} status={act === "disable" ? "disabled" : "active"} {...dialog} />;
}

/** useChange does something to a member; whoever does it to themselves is signed out by it, and asked who they are. */
function useChange({ member, onClose, onLastAdmin }: Dialog, change: () => Promise<string>) {
  const { member: me } = useSession();
  const mine = me.id === member.id;
  const mutation = useMutation({
    mutationFn: change,
    onSuccess: async (done) => {
      onClose();
      say(done);
      if (mine) await askAgainWhoIsSignedIn();
      else await membersChanged();
    },
    onError: (error) => {
      if (asProblem(error).code !== "last_admin") return;
      onClose();
      onLastAdmin(member);
    },
  });
  return { ...mutation, mine };
}

function SignsYouOut({ mine }: { mine: boolean }) {
  return mine ? <p>This is your own account: you will be signed out and have to sign in again.</p> : null;
}

function ChangeRole(dialog: Dialog) {
  const { member, onClose } = dialog;
  const [role, setRole] = useState(member.role as Role);
  const change = useChange(dialog, async () => {
    await client.PATCH("/api/v1/members/{memberId}", { params: { path: { memberId: member.id } }, body: { role } });
    return `${member.name} is ${roleName(role)} now.`;
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (role === member.role || change.isPending) return;
    change.mutate();
  };
  return (
    <Modal opened onClose={onClose} title={`Role of ${member.name}`} closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit}>
        <Stack>
          <RoleChoice value={role} onChange={setRole} />
          <Text size="sm" c="dimmed" component="div">
            Their sessions end, and the new role applies from the next sign-in. It also limits their API tokens.
            <SignsYouOut mine={change.mine} />
          </Text>
          {change.error && <ProblemNote error={change.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending} disabled={role === member.role}>
              Change role
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function ChangeStatus({ status, ...dialog }: Dialog & { status: "active" | "disabled" }) {
  const { member, onClose } = dialog;
  const disabling = status === "disabled";
  const change = useChange(dialog, async () => {
    await client.PATCH("/api/v1/members/{memberId}", { params: { path: { memberId: member.id } }, body: { status } });
    return `${member.name} is ${disabling ? "disabled" : "enabled"}.`;
  });
  return (
    <Confirm
      title={disabling ? `Disable ${member.name}` : `Enable ${member.name}`}
      verb={disabling ? "Disable" : "Enable"}
      danger={disabling}
      busy={change.isPending}
      error={change.error}
      onClose={onClose}
      onConfirm={() => change.mutate()}
    >
      {disabling
        ? "They are signed out at once, and they no longer receive reports. Their API tokens and the ingest tokens that they created are revoked: agents and senders that use such an ingest token stop. You can enable the member again, but the tokens stay revoked."
        : "They can sign in and receive reports again. Members who never accepted their invitation need a new link."}
      <SignsYouOut mine={change.mine} />
    </Confirm>
  );
}

function Renew({
  member,
  onRenewed,
  onClose,
}: Omit<Dialog, "onLastAdmin"> & { onRenewed: (invited: Schemas["Invited"]) => void }) {
  const renew = api.useMutation("post", "/api/v1/members/{memberId}/invitation", {
    onSuccess: (invited) => {
      onClose();
      onRenewed(invited);
      return membersChanged();
    },
  });
  return (
    <Confirm
      title={`New invitation for ${member.name}`}
      verb="Create new link"
      busy={renew.isPending}
      error={renew.error}
      onClose={onClose}
      onConfirm={() => renew.mutate({ params: { path: { memberId: member.id } } })}
    >
      The old link stops working. The new link can be used once and is valid for 24 hours.
    </Confirm>
  );
}

function Erase(dialog: Dialog) {
  const { member, onClose } = dialog;
  const erase = useChange(dialog, async () => {
    await client.DELETE("/api/v1/members/{memberId}", { params: { path: { memberId: member.id } } });
    return `${member.name} was erased.`;
  });
  return (
    <TypedConfirm
      opened
      danger
      title={`Erase ${member.name}`}
      name={member.email}
      verb="Erase permanently"
      busy={erase.isPending}
      error={erase.error}
      onClose={onClose}
      onConfirm={() => erase.mutate()}
    >
      This deletes their name, address, password, sessions, API tokens and invitations, and shortly afterwards the
      inputs of reports that name them. PDFs that contain the name stay until they expire. Events stay; they contain
      only ids. The ingest tokens that they created are revoked: agents and senders that use them stop. You can invite
      the address again as a new member. This cannot be undone.
      <SignsYouOut mine={erase.mine} />
    </TypedConfirm>
  );
}
