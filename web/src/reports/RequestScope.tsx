import { MultiSelect, Pill, Radio, Select, SimpleGrid, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { engineName } from "../engines";
import { TagWords } from "../teams/TagWords";
import { reportKinds } from "./kinds";
import { nameOr, ownScroll, useDatabaseChoices, useInstanceChoices } from "./requestChoices";
import { type FieldTexts, type Fill, fieldId, maxInstances } from "./requestForm";

type Props = { fill: Fill; wrong: FieldTexts; change: (next: Fill) => void };

/** The server searches; what it found is shown as it came. */
const asFound = <T,>({ options }: { options: T }) => options;

/** Servers chooses what a report of many instances covers: all, those that have tags, or up to 100. */
export function Servers({ fill, wrong, change }: Props) {
  const how = fill.tags ? "tags" : fill.instanceIds === undefined ? "all" : "chosen";
  const all = how === "all";
  const { activeOnly } = reportKinds[fill.kind];
  const choose = (value: string) =>
    change({
      ...fill,
      instanceIds: value === "chosen" ? [] : undefined,
      tags: value === "tags" ? [] : undefined,
    });
  return (
    <Stack gap="xs">
      <Radio.Group label="Instances" value={how} onChange={choose} error={all ? wrong.instanceIds : undefined}>
        <Stack gap="xs" mt={6}>
          <Radio
            value="all"
            id={all ? fieldId("instanceIds") : undefined}
            label={activeOnly ? "All active instances" : "All instances in the organization"}
            description={activeOnly ? "Inactive instances are counted but not assessed." : undefined}
          />
          <Radio
            value="tags"
            label="Instances with tags"
            description="The servers that are active and have these tags at the time of the request."
          />
          <Radio value="chosen" label={`Selected instances, up to ${maxInstances}`} />
        </Stack>
      </Radio.Group>
      {how === "tags" && (
        <TagWords
          id={fieldId("tags")}
          label="Tags"
          value={fill.tags ?? []}
          onChange={(tags) => change({ ...fill, tags })}
          error={wrong.tags}
        />
      )}
      {how === "chosen" && <ChosenServers fill={fill} wrong={wrong} change={change} />}
    </Stack>
  );
}

function ChosenServers({ fill, wrong, change }: Props) {
  const [text, setText] = useState("");
  const chosen = fill.instanceIds ?? [];
  const { found, named } = useInstanceChoices(text, chosen, { mayAct: true });
  const offered = found.data?.items ?? [];
  return (
    <MultiSelect
      id={fieldId("instanceIds")}
      label="Selected instances"
      description={`${chosen.length} of at most ${maxInstances}`}
      placeholder={chosen.length === 0 ? "Search by name" : undefined}
      searchable
      openOnFocus={false}
      {...ownScroll}
      hidePickedOptions
      maxValues={maxInstances}
      filter={asFound}
      searchValue={text}
      onSearchChange={setText}
      value={chosen}
      onChange={(instanceIds) => change({ ...fill, instanceIds })}
      data={options(offered, chosen, (id) => nameOr(named, id, "instance"))}
      renderOption={({ option }) => <Server instance={named.known.get(option.value)} name={option.label} />}
      renderPill={({ option, value, onRemove }) => (
        <Pill
          withRemoveButton
          onRemove={onRemove}
          removeButtonProps={{ "aria-label": `Remove ${option?.label}` }}
          bd={
            named.settled && !named.known.has(String(value)) ? "1px solid var(--mantine-color-red-filled)" : undefined
          }
        >
          {option?.label}
          {named.known.get(String(value))?.active === false && " (inactive)"}
        </Pill>
      )}
      nothingFoundMessage={found.isPending ? "Searching…" : "No instance matches"}
      error={wrong.instanceIds}
    />
  );
}

/** OneServer chooses the server of a report of one, of the active ones, and if wanted a database of it. */
export function OneServer({ fill, wrong, change }: Props) {
  const [text, setText] = useState("");
  const chosen = fill.instanceIds ?? [];
  const one = chosen.length === 1 ? (chosen[0] ?? null) : null;
  const names = useInstanceChoices("", chosen, { active: true, mayAct: true });
  const label = one === null ? "" : nameOr(names.named, one, "instance") + inactive(names.named.known.get(one));
  // A chosen server's name stands in the search: it is not searched for.
  const { found } = useInstanceChoices(text === label ? "" : text, [], { active: true, mayAct: true });
  const offered = found.data?.items ?? [];
  const known = new Map(offered.map((instance) => [instance.id, instance]));
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <Select
        id={fieldId("instanceIds")}
        label="Instance"
        description="Choose one active instance"
        placeholder="Search by name"
        searchable
        openOnFocus={false}
        {...ownScroll}
        allowDeselect={false}
        filter={asFound}
        searchValue={text}
        onSearchChange={setText}
        value={one}
        onChange={(id) => change({ ...fill, instanceIds: id ? [id] : undefined, databaseId: null })}
        data={options(offered, one === null ? [] : [one], () => label)}
        renderOption={({ option }) => <Server instance={known.get(option.value)} name={option.label} />}
        nothingFoundMessage={found.isPending ? "Searching…" : "No active instance matches"}
        error={wrong.instanceIds}
      />
      {reportKinds[fill.kind].database && <Database fill={fill} wrong={wrong} change={change} instanceId={one} />}
    </SimpleGrid>
  );
}

function Database({ fill, wrong, change, instanceId }: Props & { instanceId: string | null }) {
  const [text, setText] = useState("");
  const { data, isSuccess } = useDatabaseChoices(instanceId, "");
  const chosen = fill.databaseId;
  const known = data?.items.find((d) => d.id === chosen)?.name;
  const label = chosen === null ? "" : (known ?? (isSuccess ? `Unknown database ${chosen.slice(0, 8)}…` : "…"));
  const found = useDatabaseChoices(instanceId, text === label ? "" : text);
  return (
    <Select
      id={fieldId("databaseId")}
      label="Database"
      description="Optional; leave empty for the whole instance"
      placeholder={instanceId === null ? "Choose an instance first" : "All databases"}
      disabled={instanceId === null}
      searchable
      clearable
      openOnFocus={false}
      {...ownScroll}
      clearButtonProps={{ "aria-label": "All databases" }}
      filter={asFound}
      searchValue={text}
      onSearchChange={setText}
      value={chosen}
      onChange={(databaseId) => change({ ...fill, databaseId })}
      data={options(found.data?.items ?? [], chosen === null ? [] : [chosen], () => label)}
      nothingFoundMessage={found.isPending ? "Searching…" : "No database matches"}
      error={wrong.databaseId}
    />
  );
}

const inactive = (instance: Schemas["Instance"] | undefined) => (instance?.active === false ? " (inactive)" : "");

/** options are those that were found, and the chosen ones among them even where they were not. */
function options(found: { id: string; name: string }[], chosen: string[], labelOf: (id: string) => string) {
  const rest = chosen.filter((id) => !found.some((item) => item.id === id));
  return [
    ...found.map(({ id, name }) => ({ value: id, label: chosen.includes(id) ? labelOf(id) : name })),
    ...rest.map((id) => ({ value: id, label: labelOf(id) })),
  ];
}

function Server({ instance, name }: { instance: Schemas["Instance"] | undefined; name: string }) {
  return (
    <div>
      <Text size="sm">{name}</Text>
      {instance && (
        <Text size="xs" c="dimmed">
          {engineName(instance.engine)}
          {instance.host && ` · ${instance.host}`}
          {!instance.active && " · inactive: counted but not assessed"}
        </Text>
      )}
    </div>
  );
}
