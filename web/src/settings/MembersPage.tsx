import { ActionIcon, Button, Menu, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconBan, IconCircleCheck, IconDots, IconMail, IconSearch, IconUserPlus } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { api, type Schemas } from "../api/client";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { Mark } from "../ui/Mark";
import { Pager } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { InvitationLink, InviteMember } from "./InviteMember";
import { ListSkeleton, ListTable } from "./ListTable";
import { type Intent, MemberDialog } from "./MemberDialogs";
import { useLastAdmin } from "./members";
import { roleName } from "./roles";

/** MembersPage is who belongs to the organization; administrators invite, change and erase there. */
export function MembersPage() {
  const session = useSession();
  const manages = session.can("admin");
  const [inviting, setInviting] = useState(false);
  const [intent, setIntent] = useState<Intent | null>(null);
  const [invited, setInvited] = useState<Schemas["Invited"] | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  return (
    <>
      <PageTitle
        title="Members"
        lead={
          manages
            ? "Who can sign in, and what they can do. Only members can receive reports."
            : "The members of your organization. Administrators invite members and assign roles."
        }
        actions={
          manages && (
            <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
              Invite a member
            </Button>
          )
        }
      />
      <Members
        refused={refused}
        onIntent={(next) => {
          setRefused(null);
          setIntent(next);
        }}
      />
      {inviting && (
        <InviteMember
          onClose={() => setInviting(false)}
          onInvited={(made) => {
            setInviting(false);
            setInvited(made);
          }}
        />
      )}
      {invited && <InvitationLink invited={invited} onClose={() => setInvited(null)} />}
      {intent && (
        <MemberDialog
          key={`${intent.act} ${intent.member.id}`}
          intent={intent}
          onClose={() => setIntent(null)}
          onRenewed={setInvited}
          onLastAdmin={(member) => setRefused(member.id)}
        />
      )}
    </>
  );
}

function Members({ refused, onIntent }: { refused: string | null; onIntent: (intent: Intent) => void }) {
  const { role, can } = useSession();
  const { q, page } = useSearch({ from: "/settings/members" });
  const navigate = useNavigate({ from: "/settings/members" });
  const members = api.useQuery(
    "get",
    "/api/v1/members",
    { params: { query: { q, page } } },
    { placeholderData: keepPreviousData },
  );
  const lastAdmin = useLastAdmin(can("admin"));
  const [text, setText] = useState(q ?? "");
  useEffect(() => setText((typed) => (typed.trim() === (q ?? "") ? typed : (q ?? ""))), [q]); // Back and Forward
  const seek = useDebouncedCallback((typed: string) => {
    void navigate({ search: { q: typed.trim() || undefined }, replace: true });
  }, 300);
  const columns = ["Name", "E-mail", "Role", ...(role === "viewer" ? [] : ["Status", "Last sign-in"])];
  return (
    <>
      <TextInput
        aria-label="Search members"
        placeholder={role === "viewer" ? "Search by name" : "Search by name or address"}
        leftSection={<IconSearch size={16} aria-hidden />}
        type="search"
        maxLength={200}
        maw={360}
        mb="md"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          seek(event.currentTarget.value);
        }}
      />
      {members.isPending && <ListSkeleton rows={6} />}
      {members.isError && (
        <ProblemNote error={members.error} title="Members could not be loaded" onRetry={() => members.refetch()} />
      )}
      {members.data?.items.length === 0 && (
        <EmptyState title="No member matches">Try a part of a name{role === "viewer" ? "" : " or address"}.</EmptyState>
      )}
      {members.data && members.data.items.length > 0 && (
        <>
          <ListTable
            label="Members"
            columns={can("admin") ? [...columns, "(Actions)"] : columns}
            minWidth={role === "viewer" ? 480 : 720}
            busy={members.isPlaceholderData}
          >
            {members.data.items.map((member) => (
              <MemberRow
                key={member.id}
                member={member}
                lastAdmin={lastAdmin === member.id}
                refused={refused === member.id}
                onIntent={onIntent}
              />
            ))}
          </ListTable>
          <Pager
            page={members.data.page}
            what="members"
            onTurn={(next) => navigate({ search: (previous) => ({ ...previous, page: next }) })}
          />
        </>
      )}
    </>
  );
}

const statuses = {
  active: { tone: "good", icon: <IconCircleCheck size={16} aria-hidden />, name: "Active" },
  invited: { tone: "busy", icon: <IconMail size={16} aria-hidden />, name: "Invited" },
  disabled: { tone: "quiet", icon: <IconBan size={16} aria-hidden />, name: "Disabled" },
} as const;

function Status({ status }: { status: string }) {
  const known = statuses[status as keyof typeof statuses] as (typeof statuses)[keyof typeof statuses] | undefined;
  if (!known) return status;
  return (
    <Mark tone={known.tone} icon={known.icon}>
      {known.name}
    </Mark>
  );
}

function MemberRow({
  member,
  lastAdmin,
  refused,
  onIntent,
}: {
  member: Schemas["Member"];
  lastAdmin: boolean;
  refused: boolean;
  onIntent: (intent: Intent) => void;
}) {
  const session = useSession();
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500} component="span">
          {member.name}
        </Text>
        {member.id === session.member.id && (
          <Text size="sm" c="dimmed" component="span">
            {" "}
            (you)
          </Text>
        )}
        {refused && !lastAdmin && (
          <Text size="xs" role="alert">
            Not changed: an organization needs an administrator. Make someone else an administrator first.
          </Text>
        )}
      </Table.Td>
      <Table.Td>{member.email}</Table.Td>
      <Table.Td>
        {roleName(member.role)}
        {lastAdmin && (
          <Text size="xs" c="dimmed" maw="26ch">
            This is the last administrator. Make someone else an administrator first.
          </Text>
        )}
      </Table.Td>
      {session.role !== "viewer" && (
        <>
          <Table.Td>
            <Status status={member.status} />
          </Table.Td>
          <Table.Td>{member.lastSignInAt ? <Time at={member.lastSignInAt} relative /> : "Never"}</Table.Td>
        </>
      )}
      {session.can("admin") && (
        <Table.Td ta="right">{!lastAdmin && <Actions member={member} onIntent={onIntent} />}</Table.Td>
      )}
    </Table.Tr>
  );
}

function Actions({ member, onIntent }: { member: Schemas["Member"]; onIntent: (intent: Intent) => void }) {
  const item = (act: Intent["act"], label: string) => (
    <Menu.Item onClick={() => onIntent({ act, member })}>{label}</Menu.Item>
  );
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="md" aria-label={`Actions for ${member.name}`}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {item("role", "Change role…")}
        {member.status === "invited" && item("renew", "New invitation link…")}
        {member.status === "disabled" ? item("enable", "Enable…") : item("disable", "Disable…")}
        <Menu.Divider />
        {item("erase", "Erase…")}
      </Menu.Dropdown>
    </Menu>
  );
}
