import { Button, Group, MultiSelect, Switch } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { InstantField } from "../ui/InstantField";
import { groups } from "./words";

const types = groups.map((group) => ({
  group: group.name,
  items: Object.entries(group.types).map(([value, label]) => ({ value, label })),
}));

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
      <InstantField
        label="From"
        value={from}
        error={backwards ? "Must be before To." : null}
        onCommit={(at) => change({ from: at })}
      />
      <InstantField label="To" value={to} error={null} onCommit={(at) => change({ to: at })} />
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
