import { Anchor, Button, Code, Group, Table, Text } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy, IconHistory } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Schemas } from "../api/client";
import { ListSkeleton, ListTable } from "../settings/ListTable";
import { EmptyState } from "../ui/EmptyState";
import { absoluteTime } from "../ui/format";
import { PageTitle } from "../ui/PageTitle";
import { ProblemNote } from "../ui/ProblemNote";
import { AuditFilters } from "./AuditFilters";
import { toCSV } from "./csv";
import { detailsOf } from "./details";
import { type NameOf, sentence, told } from "./sentence";
import { aboutOf } from "./words";

type Entry = Schemas["AuditEntry"];

/** AuditPage is what happened in the organization, newest first: events of the logs and the security log in one list. */
export function AuditPage() {
  const { from, to, actorId, type, buildSteps, cursor } = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const members = api.useQuery("get", "/api/v1/members", { params: { query: { pageSize: 200 } } });
  // What could not be read matches nothing, and a window that ends before it begins has nothing in it.
  const nothing = actorId?.length === 0 || type?.length === 0 || (from !== undefined && to !== undefined && from >= to);
  const entries = api.useQuery(
    "get",
    "/api/v1/audit-events",
    // A report has more build steps than people have deeds: they are shown when asked for.
    {
      params: {
        query: { from, to, actorId, type, buildSteps: buildSteps ?? (type ? "include" : "exclude"), cursor, limit: 50 },
      },
    },
    { placeholderData: keepPreviousData, enabled: !nothing, staleTime: 0 },
  );
  const names = entries.data?.names ?? {};
  const nameOf: NameOf = (id) => names[id];
  const items = nothing ? [] : entries.data?.items;
  const older = nothing ? null : (entries.data?.nextCursor ?? null);
  return (
    <>
      <PageTitle
        title="Audit"
        lead="Actions of people and tokens, newest first: sign-ins, refused requests, members, tokens, settings, instances, reports and downloads."
        actions={items && items.length > 0 && <CopyCSV entries={items} nameOf={nameOf} />}
      />
      <AuditFilters members={members.data?.items.map((m) => ({ value: m.id, label: m.name })) ?? []} />
      {entries.isPending && !nothing && <ListSkeleton rows={10} />}
      {entries.isError && (
        <ProblemNote
          error={entries.error}
          title="The audit list could not be loaded"
          onRetry={() => entries.refetch()}
        />
      )}
      {items?.length === 0 && (
        <EmptyState icon={<IconHistory size={28} aria-hidden />} title="No entries">
          {cursor
            ? "There are no older entries."
            : "No entry matches these filters. Choose a longer time, or clear a filter."}
        </EmptyState>
      )}
      {items && items.length > 0 && (
        <ListTable
          label="Audit list"
          minWidth={860}
          columns={["When", "Who", "What", "(Details)"]}
          busy={entries.isPlaceholderData}
        >
          {items.map((entry, row) => (
            <EntryRow
              // biome-ignore lint/suspicious/noArrayIndexKey: entries have no id, and several may share an instant
              key={`${entry.at} ${row}`}
              entry={entry}
              nameOf={nameOf}
            />
          ))}
        </ListTable>
      )}
      <Group justify="flex-end" mt="md">
        {cursor && (
          <Button
            variant="default"
            onClick={() => navigate({ search: (previous) => ({ ...previous, cursor: undefined }) })}
          >
            Newest
          </Button>
        )}
        {older && (
          <Button
            variant="default"
            disabled={entries.isPlaceholderData}
            onClick={() => navigate({ search: (previous) => ({ ...previous, cursor: older }) })}
          >
            Older
          </Button>
        )}
      </Group>
    </>
  );
}

/** whoDid is the name of who did it: the program, where nobody did. */
function whoDid(entry: Entry): string {
  if (entry.actor) return entry.actor.name || "Erased member";
  if (entry.token) return `Token ${entry.token.name || entry.token.id}`;
  if (entry.data.component === "address") return "Reader of the address";
  return entry.data.component === "cli" ? "Command line" : "Muster";
}

function EntryRow({ entry, nameOf }: { entry: Entry; nameOf: NameOf }) {
  const [raw, setRaw] = useState(false);
  const details = detailsOf(entry.data, nameOf);
  return (
    <Table.Tr style={{ verticalAlign: "top" }} data-type={entry.type}>
      <Table.Td className="numbers" style={{ whiteSpace: "nowrap" }}>
        <time dateTime={entry.at}>{absoluteTime(entry.at)}</time>
      </Table.Td>
      <Table.Td>{whoDid(entry)}</Table.Td>
      <Table.Td>
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {sentence(entry, nameOf).map((part) =>
            part.subject ? <SubjectLink key="subject" entry={entry} name={part.text} /> : part.text,
          )}
        </Text>
        {details.length > 0 && (
          <Text size="xs" component="div" className="numbers" style={{ overflowWrap: "anywhere" }}>
            {details.map(({ name, value }, at) => (
              <span key={name}>
                {at > 0 && " · "}
                <Text span inherit c="dimmed">
                  {name}
                </Text>{" "}
                {value}
              </span>
            ))}
          </Text>
        )}
        {raw && (
          <Code block fz="xs" mt={4} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
            {JSON.stringify(
              {
                type: entry.type,
                subjectId: entry.subjectId,
                actor: entry.actor,
                token: entry.token,
                data: entry.data,
              },
              null,
              2,
            )}
          </Code>
        )}
      </Table.Td>
      <Table.Td ta="right">
        <Button size="compact-xs" variant="subtle" aria-expanded={raw} onClick={() => setRaw(!raw)}>
          {raw ? "Hide details" : "Details"}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

const pages: Record<string, (id: string) => string> = {
  report: (id) => `/reports/${id}`,
  instance: (id) => `/instances/${id}`,
  alert: (id) => `/alerts/${id}`,
  exception: () => "/exceptions",
  finding: (id) => `/findings/${id}`,
  schedule: (id) => `/schedules/${id}`,
  rule: (id) => `/notifications/rules/${id}`,
  channel: () => "/notifications/channels",
  delivery: (id) => `/notifications/deliveries/${id}`,
};

/** SubjectLink is what an entry is about, linked to its page; what was removed has none. */
function SubjectLink({ entry, name }: { entry: Entry; name: string }) {
  const page = pages[aboutOf(entry.type) ?? ""];
  if (!page || entry.subjectId === null || entry.type.endsWith("Removed")) return name;
  return (
    <Anchor component={Link} inherit to={page(entry.subjectId) as "/"} title={entry.subjectId}>
      {name}
    </Anchor>
  );
}

function CopyCSV({ entries, nameOf }: { entries: Entry[]; nameOf: NameOf }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  if (!navigator.clipboard) return null; // over plain HTTP there is none
  const copy = () =>
    clipboard.copy(
      toCSV([
        ["at", "who", "what", "details", "type", "subjectId"],
        ...entries.map((entry) => [
          entry.at,
          whoDid(entry),
          told(entry, nameOf),
          detailsOf(entry.data, nameOf)
            .map(({ name, value }) => `${name}: ${value}`)
            .join("; "),
          entry.type,
          entry.subjectId ?? "",
        ]),
      ]),
    );
  return (
    <Button
      variant="default"
      leftSection={clipboard.copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
      onClick={copy}
    >
      {clipboard.copied ? "Copied" : "Copy as CSV"}
    </Button>
  );
}
