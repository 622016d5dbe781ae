// Who closes a finding, by when, and where its ticket is.
import { ActionIcon, Anchor, Button, Group, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconExternalLink, IconPencil } from "@tabler/icons-react";
import { useState } from "react";
import { useSubmission } from "../access/useSubmission";
import { client } from "../api/client";
import { queryClient } from "../api/queries";
import { useSession } from "../api/session";
import { ownScroll, useMemberChoices } from "../reports/requestChoices";
import { Day } from "../settings/Day";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { brokenTicket, overdueWords, ticketName } from "./due";
import type { Finding } from "./FindingsPage";

/** Due is the day on which a finding is due, and for how long it is overdue. */
export function Due({ finding: f }: { finding: Pick<Finding, "dueAt" | "overdueDays" | "status"> }) {
  if (!f.dueAt || f.status === "passed") return null;
  const overdue = overdueWords(f);
  return (
    <Text size="sm" span>
      <Day at={f.dueAt} />
      {overdue && (
        <Text size="xs" c="light-dark(var(--mantine-color-red-7), var(--mantine-color-red-3))" fw={600} component="div">
          {overdue}
        </Text>
      )}
    </Text>
  );
}

/** Ticket is the link to a finding's ticket. */
export function Ticket({ url }: { url: string }) {
  return (
    <Anchor href={url} target="_blank" rel="noreferrer" size="sm" title={url} style={{ overflowWrap: "anywhere" }}>
      <bdi>{ticketName(url)}</bdi> <IconExternalLink size={14} aria-hidden style={{ verticalAlign: "-2px" }} />
      <span className="visually-hidden"> (opens in a new tab)</span>
    </Anchor>
  );
}

/** EditCharge opens the form for who closes a finding and its ticket, for whoever may change them. */
export function EditCharge({ finding }: { finding: Finding }) {
  const [open, setOpen] = useState(false);
  if (!finding.mayAct) return null;
  return (
    <>
      <ActionIcon
        variant="subtle"
        size="sm"
        aria-label={`Change assignee and ticket of ${finding.check.id} on ${finding.instance.name}`}
        onClick={() => setOpen(true)}
      >
        <IconPencil size={16} aria-hidden />
      </ActionIcon>
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        title="Assignee and ticket"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <Editor finding={finding} onDone={() => setOpen(false)} />
      </Modal>
    </>
  );
}

const nobody = { value: "", label: "Nobody" };

const fields = { "#/assigneeId": "assigneeId", "#/ticketUrl": "ticketUrl" };

/** findingsChanged has everything read anew that shows findings. */
const findingsChanged = () =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[1]).startsWith("/api/v1/findings") });

function Editor({ finding: f, onDone }: { finding: Finding; onDone: () => void }) {
  const form = useForm({
    initialValues: { assigneeId: f.assigneeId ?? nobody.value, ticketUrl: f.ticketUrl ?? "" },
    validate: { ticketUrl: brokenTicket },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  const { member } = useSession();
  const [text, setText] = useState(f.assigneeName ?? nobody.label);
  // The field has the name of the choice in it, which is no search.
  const chosen = [nobody.label, f.assigneeName, member.name].includes(text);
  const { found } = useMemberChoices(chosen ? "" : text, []);
  const offered = [
    nobody,
    { value: member.id, label: member.name },
    ...(f.assigneeId && f.assigneeName ? [{ value: f.assigneeId, label: f.assigneeName }] : []),
    ...(found.data?.items ?? []).filter((m) => m.status === "active").map((m) => ({ value: m.id, label: m.name })),
  ];
  return (
    <form
      noValidate
      onSubmit={onSubmit(async ({ assigneeId, ticketUrl }) => {
        const body = {
          ...(assigneeId !== (f.assigneeId ?? nobody.value) && { assigneeId: assigneeId || null }),
          ...(ticketUrl.trim() !== (f.ticketUrl ?? "") && { ticketUrl: ticketUrl.trim() || null }),
        };
        if (Object.keys(body).length === 0) return onDone();
        await client.PATCH("/api/v1/findings/{findingId}", { params: { path: { findingId: f.id } }, body });
        onDone();
        say("Assignee and ticket are saved.");
        await findingsChanged();
      })}
    >
      <Stack>
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {f.check.title}, <bdi>{f.instance.name}</bdi>
        </Text>
        <Select
          label="Assignee"
          data={[...new Map(offered.map((option) => [option.value, option])).values()]}
          searchable
          allowDeselect={false}
          searchValue={text}
          onSearchChange={setText}
          {...ownScroll}
          nothingFoundMessage={found.isPending ? "Searching…" : "No active member matches"}
          {...form.getInputProps("assigneeId")}
        />
        <TextInput
          label="Ticket"
          description="The address of the ticket, without secrets in it: everyone who reads findings sees it."
          placeholder="https://tickets.example.org/DBA-112"
          type="url"
          maxLength={2_000}
          {...form.getInputProps("ticketUrl")}
        />
        {note && <ProblemNote error={note} title="The change was not saved" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={running} disabled={!form.isDirty()}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
