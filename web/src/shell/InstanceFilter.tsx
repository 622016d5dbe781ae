import { Button, Group, Loader, Popover, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconChevronDown, IconFilter, IconSearch } from "@tabler/icons-react";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { Schemas } from "../api/client";
import { engineName } from "../engines";
import { TagFilter } from "../instances/TagFilter";
import { count, plural } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { type Filter, namesNone, type Servers, serversOf } from "../window/query";
import { useScope } from "../window/scope";
import { label, matches, onKey, toggled } from "./filterKeys";
import { useChosenInstances, useInstances, useMatching } from "./instances";
import { useFocusAtSight } from "./useFocusAtSight";

type Opening = { opened: boolean; onChange: (opened: boolean) => void };

/** InstanceFilter chooses the servers that the page is about: search, toggle several, all that have a tag, clear. */
export function InstanceFilter({ opened, onChange }: Opening) {
  const { filter } = useScope();
  const servers = serversOf(filter);
  const chosen = useChosenInstances(servers.instanceId);
  const first = useInstances("", opened || (servers.instanceId?.length ?? 0) > 0);
  const text = label(servers, chosen.data?.items, first.data?.page.totalItems ?? null);
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-start" width={320} trapFocus returnFocus withinPortal>
      <Popover.Target>
        <Button
          className="shell-filter"
          size="xs"
          h={32}
          variant="default"
          leftSection={<IconFilter size={16} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          onClick={() => onChange(!opened)}
          aria-label={`Instances: ${text}`}
          title={servers.tag && text}
          data-filter
        >
          {text}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="sm" maw="calc(100vw - 16px)">
        <Choice />
      </Popover.Dropdown>
    </Popover>
  );
}

/** Choice is the popover's content: it lives as long as one opening, which is one entry of the history. */
function Choice() {
  const { filter, setServers } = useScope();
  const [chosen, setChosen] = useState(serversOf(filter));
  const ids = chosen.instanceId ?? [];
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const moved = useRef(false);
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  useFocusAtSight(field);
  const { found, total, failed, busy, retry } = useSearch(query);
  const choose = (next: Servers) => {
    const some = (values: string[] | undefined) => (values?.length ? values : undefined);
    const servers = { instanceId: some(next.instanceId), tag: some(next.tag) };
    setChosen(servers);
    setServers(servers, { replace: moved.current });
    moved.current = true;
  };
  const toggle = (id: string) => choose({ ...chosen, instanceId: toggled(ids, id) });
  const active = found[Math.min(at, found.length - 1)];
  const press = (event: KeyboardEvent) => {
    const action = onKey(event.key, { query, at, names: found.map((i) => i.name) });
    if (!action) return;
    event.preventDefault();
    if (action.move !== undefined) setAt(action.move);
    else if (active) toggle(active.id);
  };
  return (
    <>
      <TextInput
        ref={field}
        label="Instances"
        placeholder="Name, engine, version or host"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={busy ? <Loader size={14} aria-hidden /> : null}
        role="combobox"
        aria-expanded
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={active ? `${list}-${active.id}` : undefined}
        data-autofocus
        value={query}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
        mb="xs"
      />
      {failed ? (
        <ProblemNote error={failed} title="Instances could not be loaded" onRetry={retry} />
      ) : (
        <Options id={list} found={found} chosen={ids} active={active} onToggle={toggle} />
      )}
      <Text size="sm" c="dimmed" role="status">
        {found.length === 0 && !busy && !failed && (query ? `No instance matches “${query}”.` : "No instances yet.")}
      </Text>
      <TagFilter within label="Tags" value={chosen.tag ?? []} onChange={(tag) => choose({ ...chosen, tag })} />
      <Group justify="space-between" mt="xs">
        <Text size="sm" c="dimmed" className="numbers">
          {chosen.tag ? (
            <Matching filter={{ ...chosen, owner: filter.owner }} />
          ) : ids.length === 0 ? (
            `All ${plural(total, "instance")}`
          ) : (
            `${count(ids.length)} of ${count(total)} chosen`
          )}
        </Text>
        <Button
          size="compact-sm"
          variant="subtle"
          disabled={filter.instanceId === undefined && filter.tag === undefined}
          onClick={() => {
            choose({});
            // A disabled button loses the focus, and with it the popover its keys: Escape closed nothing.
            field.current?.focus();
          }}
        >
          Clear
        </Button>
      </Group>
    </>
  );
}

/** Matching says how many instances the filter leaves: those with the tags change, and it reads whichever have them then. */
function Matching({ filter }: { filter: Filter }) {
  const { data } = useMatching(filter);
  if (namesNone(filter)) return "No instance matches";
  return data ? `All that match: ${plural(data.page.totalItems, "instance")}` : "All that match";
}

/** useSearch finds instances: in what the browser has, or by asking where that is not all of them. */
function useSearch(query: string) {
  const [asked] = useDebouncedValue(query.trim(), 200);
  const first = useInstances("");
  const total = first.data?.page.totalItems ?? 0;
  const all = first.data?.items ?? [];
  const partly = total > all.length;
  const searched = useInstances(asked, partly && asked !== "");
  const found = partly && asked !== "" ? (searched.data?.items ?? []) : all.filter((i) => matches(i, query));
  const failed = first.data ? searched.error : first.error;
  return {
    found,
    total,
    failed,
    busy: first.isFetching || searched.isFetching,
    retry: () => (first.isError ? first.refetch() : searched.refetch()),
  };
}

type OptionsProps = {
  id: string;
  found: Schemas["Instance"][];
  chosen: string[];
  active: Schemas["Instance"] | undefined;
  onToggle: (id: string) => void;
};

function Options({ id, found, chosen, active, onToggle }: OptionsProps) {
  const shown = useRef<HTMLDivElement>(null);
  const here = active?.id;
  useEffect(() => {
    if (here) shown.current?.querySelector("[data-active]")?.scrollIntoView({ block: "nearest" });
  }, [here]);
  return (
    <div ref={shown} id={id} role="listbox" aria-label="Instances" aria-multiselectable className="filter-list">
      {found.map((instance) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the combobox has the focus and the keys
        <div
          key={instance.id}
          id={`${id}-${instance.id}`}
          role="option"
          aria-selected={chosen.includes(instance.id)}
          data-active={active === instance || undefined}
          className="filter-option"
          // The search field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onToggle(instance.id)}
        >
          <span className="filter-box" aria-hidden>
            {chosen.includes(instance.id) && <IconCheck size={12} stroke={3} />}
          </span>
          <Text span size="sm" flex={1} miw={0}>
            {instance.name}
          </Text>
          <Text span size="xs" c="dimmed">
            {engineName(instance.engine)}
            {!instance.active && ", inactive"}
          </Text>
        </div>
      ))}
    </div>
  );
}
