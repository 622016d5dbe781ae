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
import { type Detail, detailsOf } from "./details";
import { aboutOf, typeInWords } from "./words";

type Entry = Schemas["AuditEntry"];

/** AuditPage is what happened in the organization, newest first: events of the logs and the security log in one list. */
export function AuditPage() {
  const { from, to, actorId, type, cursor } = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const members = api.useQuery("get", "/api/v1/members", { params: { query: { pageSize: 200 } } });
  const names = new Map(members.data?.items.map((m) => [m.id, m.name]));
  // What could not be read matches nothing, and a window that ends before it begins has nothing in it.
  const nothing = actorId?.length === 0 || type?.length === 0 || (from !== undefined && to !== undefined && from >= to);
  const entries = api.useQuery(
    "get",
    "/api/v1/audit-events",
    { params: { query: { from, to, actorId, type, cursor, limit: 50 } } },
    { placeholderData: keepPreviousData, enabled: !nothing, staleTime: 0 },
  );
  const items = nothing ? [] : entries.data?.items;
  const older = nothing ? null : (entries.data?.nextCursor ?? null);
  return (
    <>
      <PageTitle
        title="Audit"
        lead="Who did what, newest first: sign-ins, refusals, members, tokens, settings, servers, reports and downloads."
        actions={items && items.length > 0 && <CopyCSV entries={items} nameOf={(id) => names.get(id)} />}
      />
      <AuditFilters members={members.data?.items.map((m) => ({ value: m.id, label: m.name })) ?? []} />
      {entries.isPending && !nothing && <ListSkeleton rows={10} />}
      {entries.isError && (
        <ProblemNote error={entries.error} title="The audit list cannot be shown" onRetry={() => entries.refetch()} />
      )}
      {items?.length === 0 && (
        <EmptyState icon={<IconHistory size={28} aria-hidden />} title="Nothing happened">
          {cursor ? "There is nothing older." : "No entry fits these filters. Widen the time, or clear a filter."}
        </EmptyState>
      )}
      {items && items.length > 0 && (
        <ListTable
          label="Audit list"
          minWidth={860}
          columns={["When", "Who", "What", "Details"]}
          busy={entries.isPlaceholderData}
        >
          {items.map((entry, row) => (
            <EntryRow
              // biome-ignore lint/suspicious/noArrayIndexKey: entries have no id, and several may share an instant
              key={`${entry.at} ${row}`}
              entry={entry}
              nameOf={(id) => names.get(id)}
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

/** whoDid is the name of who did it: the system, where nobody did. */
function whoDid(entry: Entry): string {
  if (entry.actor) return entry.actor.name || "Erased member";
  return typeof entry.data.component === "string" ? entry.data.component : "Muster";
}

function EntryRow({ entry, nameOf }: { entry: Entry; nameOf: (id: string) => string | undefined }) {
  return (
    <Table.Tr style={{ verticalAlign: "top" }}>
      <Table.Td className="numbers" style={{ whiteSpace: "nowrap" }}>
        <time dateTime={entry.at}>{absoluteTime(entry.at)}</time>
      </Table.Td>
      <Table.Td>{whoDid(entry)}</Table.Td>
      <Table.Td>
        <Text size="sm" fw={500}>
          {typeInWords(entry.type)}
        </Text>
        <Code>{entry.type}</Code>
      </Table.Td>
      <Table.Td>
        <SubjectLink entry={entry} />
        <Details details={detailsOf(entry.data, nameOf)} />
      </Table.Td>
    </Table.Tr>
  );
}

/** So many characters are two lines or three; what is longer is shown on demand. */
const long = 240;

function Details({ details }: { details: Detail[] }) {
  const [whole, setWhole] = useState(false);
  const folds = details.reduce((length, { name, value }) => length + name.length + value.length, 0) > long;
  return (
    <>
      <Text
        size="xs"
        component="div"
        className="numbers"
        lineClamp={folds && !whole ? 2 : undefined}
        style={{ overflowWrap: "anywhere" }}
      >
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
      {folds && (
        <Button size="compact-sm" variant="subtle" ml={-8} aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? "Less" : "All of it"}
        </Button>
      )}
    </>
  );
}

function SubjectLink({ entry }: { entry: Entry }) {
  const id = entry.subjectId;
  if (id === null) return null;
  switch (aboutOf(entry.type)) {
    case "report":
      return (
        <Anchor component={Link} size="sm" to={`/reports/${id}` as "/reports/$reportId"}>
          The report
        </Anchor>
      );
    case "instance":
      return (
        <Anchor component={Link} size="sm" to={`/instances/${id}` as "/instances/$instanceId"}>
          The server
        </Anchor>
      );
    case "alert":
      return (
        <Anchor component={Link} size="sm" to={`/alerts/${id}` as "/alerts/$alertId"}>
          The alert
        </Anchor>
      );
    case "exception":
      return (
        <Anchor component={Link} size="sm" to="/exceptions">
          Exceptions
        </Anchor>
      );
    default:
      return null;
  }
}

function CopyCSV({ entries, nameOf }: { entries: Entry[]; nameOf: (id: string) => string | undefined }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  if (!navigator.clipboard) return null; // over plain HTTP there is none
  const copy = () =>
    clipboard.copy(
      toCSV([
        ["at", "who", "type", "subjectId", "details"],
        ...entries.map((entry) => [
          entry.at,
          whoDid(entry),
          entry.type,
          entry.subjectId ?? "",
          detailsOf(entry.data, nameOf)
            .map(({ name, value }) => `${name}: ${value}`)
            .join("; "),
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
