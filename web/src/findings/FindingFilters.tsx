import { Button, Chip, Collapse, Flex, Group, Input, MultiSelect, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFilterOff } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useSession } from "../api/session";
import { SearchField } from "../instances/SearchField";
import { TagFilter } from "../instances/TagFilter";
import { useInstanceChoice } from "../settings/instanceNames";
import { checkDomains, checkSeverities, findingStatuses } from "../url/schemas";
import { statusName } from "./badges";
import type { Change } from "./FindingsPage";
import { type FindingsSearch, isFiltered, noFilters } from "./query";

type Filters = { search: FindingsSearch; change: Change };

/** FindingFilters is what narrows the list. On a phone it is folded. */
export function FindingFilters({
  search,
  change,
  narrow,
  children,
}: Filters & {
  narrow: boolean;
  /** Stands with the filters, as the order where there are no columns. */
  children?: ReactNode;
}) {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <>
      <Flex gap="md" wrap="wrap" align="flex-end">
        <SearchField
          main
          label="Search object, check, instance"
          value={search.q ?? ""}
          onSearch={(q) => change({ q: q || undefined }, { replace: true })}
        />
        {!narrow && <Choices search={search} change={change} />}
      </Flex>
      {narrow && (
        <Collapse expanded={opened} id="finding-filters">
          <Stack gap="sm" pt="sm">
            <Choices search={search} change={change} />
            {children}
          </Stack>
        </Collapse>
      )}
      <Group gap="xs" mt={narrow || isFiltered(search) ? "sm" : 0}>
        {isFiltered(search) && <ClearFilters change={change} />}
        {narrow && (
          <Button
            size="compact-sm"
            variant="default"
            ml="auto"
            aria-expanded={opened}
            aria-controls="finding-filters"
            onClick={toggle}
          >
            {opened ? "Fewer filters" : "More filters"}
          </Button>
        )}
      </Group>
    </>
  );
}

function Choices({ search, change }: Filters) {
  const instances = useInstanceChoice();
  const { member } = useSession();
  const checks = (search.checkId ?? []).map((id) => ({ value: id, label: id }));
  return (
    <>
      <MultiSelect
        label="Instance"
        placeholder={search.instanceId?.length ? undefined : "All instances"}
        data={instances}
        value={search.instanceId ?? []}
        onChange={(chosen) => change({ instanceId: chosen.length > 0 ? chosen : undefined, databaseId: undefined })}
        searchable
        clearable
        clearButtonProps={{ "aria-label": "All instances" }}
        nothingFoundMessage="No instance matches"
        style={{ flex: "1 1 12rem", maxWidth: "22rem" }}
      />
      <TagFilter
        label="Tags"
        value={search.tag ?? []}
        onChange={(tag) => change({ tag: tag.length > 0 ? tag : undefined })}
      />
      <Chips
        label="Severity"
        all={checkSeverities}
        chosen={search.severity}
        onChange={(severity) => change({ severity })}
      />
      <Chips label="Domain" all={checkDomains} chosen={search.domain} onChange={(domain) => change({ domain })} />
      <Chips
        label="Status"
        all={findingStatuses}
        name={statusName}
        chosen={search.status ?? ["open"]}
        onChange={(status) => change({ status: status?.length === 1 && status[0] === "open" ? undefined : status })}
      />
      <Input.Wrapper label="In charge" labelElement="div">
        <Group gap={6} mih={36} role="group" aria-label="In charge">
          <Chip
            size="sm"
            variant="outline"
            checked={search.overdue !== undefined}
            onChange={(only) => change({ overdue: only ? "true" : undefined })}
          >
            Overdue
          </Chip>
          <Chip
            size="sm"
            variant="outline"
            checked={search.assigneeId === member.id}
            onChange={(only) => change({ assigneeId: only ? member.id : undefined })}
          >
            Assigned to me
          </Chip>
        </Group>
      </Input.Wrapper>
      {checks.length > 0 && (
        <MultiSelect
          label="Check"
          data={checks}
          value={search.checkId ?? []}
          onChange={(chosen) => change({ checkId: chosen.length > 0 ? chosen : undefined })}
          clearable
          clearButtonProps={{ "aria-label": "All checks" }}
          style={{ flex: "0 1 12rem" }}
        />
      )}
    </>
  );
}

/** Nothing chosen is everything: an empty filter would match nothing. */
function Chips<T extends string>({
  label,
  all,
  chosen,
  name = (value) => value,
  onChange,
}: {
  label: string;
  all: readonly T[];
  chosen: T[] | undefined;
  name?: (value: T) => string;
  onChange: (chosen: T[] | undefined) => void;
}) {
  return (
    <Input.Wrapper label={label} labelElement="div">
      <Chip.Group
        multiple
        value={chosen ?? []}
        onChange={(next) => {
          const kept = all.filter((value) => next.includes(value));
          onChange(kept.length > 0 ? kept : undefined);
        }}
      >
        <Group gap={6} mih={36} role="group" aria-label={label}>
          {all.map((value) => (
            <Chip key={value} value={value} size="sm" variant="outline">
              {name(value)}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </Input.Wrapper>
  );
}

/** ClearFilters takes every filter out of the address; the order stays. */
export function ClearFilters({ change }: { change: Change }) {
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      leftSection={<IconFilterOff size={14} aria-hidden />}
      onClick={() => change(noFilters)}
    >
      Clear filters
    </Button>
  );
}
