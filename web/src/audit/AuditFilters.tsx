import { Button, Group, MultiSelect, Switch, TextInput } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { groups } from "./words";

const types = groups.map((group) => ({
  group: group.name,
  items: Object.entries(group.types).map(([value, label]) => ({ value, label })),
}));

const pad = (n: number) => String(n).padStart(2, "0");

/** localOf is an instant as the field of a date and time has it, in the reader's zone; empty is no instant. */
export function localOf(instant: string | undefined): string {
  if (!instant) return "";
  const at = new Date(instant);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** instantOf is the reverse; undefined where there is no date, or not yet all of it. */
export function instantOf(local: string): string | undefined {
  const at = new Date(local);
  return local === "" || Number.isNaN(at.getTime()) || at.getFullYear() < 1970 ? undefined : at.toISOString();
}

/** AuditFilters narrow the list. They live in the address; a change starts again at the newest entry. */
export function AuditFilters({ members }: { members: { value: string; label: string }[] }) {
  const { from, to, actorId, type, buildSteps } = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const change = (next: Record<string, unknown>) =>
    navigate({ search: (previous) => ({ ...previous, cursor: undefined, ...next }) });
  const known = new Set(members.map((m) => m.value));
  const actors = [
    ...members,
    ...(actorId ?? []).filter((id) => !known.has(id)).map((id) => ({ value: id, label: `Member ${id}` })),
  ];
  const codes = new Set(types.flatMap((g) => g.items.map((i) => i.value)));
  const others = (type ?? []).filter((code) => !codes.has(code)).map((code) => ({ value: code, label: code }));
  const filtered = [from, to, actorId, type, buildSteps].some((filter) => filter !== undefined);
  const backwards = from !== undefined && to !== undefined && from >= to;
  return (
    <Group mb="md" gap="sm" align="flex-start" role="search" aria-label="Filter the audit list">
      <Instant
        label="From"
        value={from}
        error={backwards ? "Must be before To." : null}
        onCommit={(at) => change({ from: at })}
      />
      <Instant label="To" value={to} error={null} onCommit={(at) => change({ to: at })} />
      <MultiSelect
        label="Who"
        placeholder={actorId?.length ? undefined : "Anyone"}
        data={actors}
        value={actorId ?? []}
        onChange={(chosen) => change({ actorId: chosen.length > 0 ? chosen : undefined })}
        searchable
        clearable
        nothingFoundMessage="No member matches"
        w={{ base: "100%", sm: 240 }}
      />
      <MultiSelect
        label="What"
        placeholder={type?.length ? undefined : "Anything"}
        data={others.length > 0 ? [...types, { group: "Others", items: others }] : types}
        value={type ?? []}
        onChange={(chosen) => change({ type: chosen.length > 0 ? chosen : undefined })}
        searchable
        clearable
        nothingFoundMessage="No event type matches"
        w={{ base: "100%", sm: 260 }}
      />
      {type === undefined && (
        <Switch
          label="Show build steps"
          mt={{ base: 0, sm: 32 }}
          checked={buildSteps === "include"}
          onChange={(event) => change({ buildSteps: event.currentTarget.checked ? "include" : undefined })}
        />
      )}
      {filtered && (
        <Button variant="subtle" mt={{ base: 0, sm: 24 }} onClick={() => navigate({ search: {} })}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

/** Instant is a field of a date and time; it counts once it is left, or at Enter, so that half a date asks nothing. */
function Instant({
  label,
  value,
  error,
  onCommit,
}: {
  label: string;
  value: string | undefined;
  error: string | null;
  onCommit: (at: string | undefined) => void;
}) {
  const [text, setText] = useState(localOf(value));
  useEffect(() => setText(localOf(value)), [value]);
  const commit = () => {
    if (text !== localOf(value)) onCommit(instantOf(text));
  };
  return (
    <TextInput
      type="datetime-local"
      label={label}
      value={text}
      error={error}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
      w={{ base: "100%", sm: 200 }}
    />
  );
}
