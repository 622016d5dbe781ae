import {
  Button,
  Chip,
  CloseButton,
  Collapse,
  Flex,
  Group,
  Input,
  NativeSelect,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useDebouncedCallback, useDisclosure } from "@mantine/hooks";
import { IconClock, IconFilterOff, IconSearch } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { severities } from "../url/schemas";
import { severityName } from "./badges";
import { type AlertsSearch, isFiltered, windowText } from "./query";

type Change = (next: Partial<AlertsSearch>, how?: { replace?: boolean }) => void;

const noFilters: Partial<AlertsSearch> = { status: undefined, severity: undefined, q: undefined, muted: undefined };

/** AlertFilters is what narrows the list beyond its scope, and says whether the window does. On a phone it is folded. */
export function AlertFilters({
  search,
  change,
  narrow,
  children,
}: {
  search: AlertsSearch;
  change: Change;
  narrow: boolean;
  /** Stands with the filters, as the order where there are no columns. */
  children?: ReactNode;
}) {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <>
      <Flex gap="md" wrap="wrap" align="flex-end">
        <SearchBox q={search.q} change={change} />
        {!narrow && <Choices search={search} change={change} />}
      </Flex>
      {narrow && (
        <Collapse expanded={opened} id="alert-filters">
          <Stack gap="sm" pt="sm">
            <Choices search={search} change={change} />
            {children}
          </Stack>
        </Collapse>
      )}
      <Group gap="xs" mt="sm">
        <WindowNote search={search} change={change} />
        {isFiltered(search) && <ClearFilters change={change} />}
        {narrow && (
          <Button
            size="compact-sm"
            variant="default"
            ml="auto"
            aria-expanded={opened}
            aria-controls="alert-filters"
            onClick={toggle}
          >
            {opened ? "Fewer filters" : "More filters"}
          </Button>
        )}
      </Group>
    </>
  );
}

function Choices({ search, change }: { search: AlertsSearch; change: Change }) {
  return (
    <>
      <StatusChoice value={search.status ?? "all"} change={change} />
      <SeverityChoice chosen={search.severity ?? []} change={change} />
      <NativeSelect
        label="Muted alerts"
        value={search.muted ?? "include"}
        onChange={(e) => {
          const muted = e.currentTarget.value as NonNullable<AlertsSearch["muted"]>;
          change({ muted: muted === "include" ? undefined : muted });
        }}
        data={[
          { value: "include", label: "Included" },
          { value: "exclude", label: "Left out" },
          { value: "only", label: "Only muted" },
        ]}
      />
    </>
  );
}

/** ClearFilters takes every filter out of the address; window and instances stay. */
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

function WindowNote({ search, change }: { search: AlertsSearch; change: Change }) {
  const text = windowText(search);
  if (!text) return null; // the bar says so
  return (
    <Group gap={6} wrap="nowrap" data-window-note mih={28}>
      <IconClock size={16} aria-hidden style={{ flex: "none" }} />
      <Text size="sm">{text}</Text>
      <CloseButton
        size="sm"
        aria-label="Show alerts from any time"
        onClick={() => change({ range: undefined, from: undefined, to: undefined })}
      />
    </Group>
  );
}

/** SearchBox writes what is typed into the address 300 ms after the last key, or at once when it is left. */
function SearchBox({ q, change }: { q: string | undefined; change: Change }) {
  const [typed, setTyped] = useState(q ?? "");
  const [written, setWritten] = useState(q);
  const [seen, setSeen] = useState(q);
  if (q !== seen) {
    // Another value than the one written from here: Back, Clear filters or a link.
    setSeen(q);
    if (q !== written) {
      setWritten(q);
      setTyped(q ?? "");
    }
  }
  const write = useDebouncedCallback((text: string) => {
    const next = text.trim() || undefined;
    if (next === written) return;
    setWritten(next);
    change({ q: next }, { replace: true });
  }, 300);
  const type = (text: string) => {
    setTyped(text);
    write(text);
  };
  return (
    <TextInput
      data-search
      type="search"
      label="Search alerts"
      placeholder="Title, instance or database"
      maxLength={200}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={typed && <CloseButton size="sm" aria-label="Clear the search" onClick={() => type("")} />}
      value={typed}
      onChange={(e) => type(e.currentTarget.value)}
      onBlur={() => write.flush()}
      onKeyDown={(e) => e.key === "Enter" && write.flush()}
      style={{ flex: "1 1 14rem", minWidth: 0, maxWidth: "24rem" }}
    />
  );
}

type Status = NonNullable<AlertsSearch["status"]>;

function StatusChoice({ value, change }: { value: Status; change: Change }) {
  return (
    <Input.Wrapper label="Status" labelElement="div">
      <Flex h={36} align="center">
        <SegmentedControl
          aria-label="Status"
          value={value}
          onChange={(status) => change({ status: status === "all" ? undefined : (status as Status) })}
          data={[
            { value: "all", label: "All" },
            { value: "open", label: "Open" },
            { value: "resolved", label: "Resolved" },
          ]}
        />
      </Flex>
    </Input.Wrapper>
  );
}

/** Nothing chosen is every severity: an empty filter would match nothing. */
function SeverityChoice({ chosen, change }: { chosen: string[]; change: Change }) {
  return (
    <Input.Wrapper label="Severity" labelElement="div">
      <Chip.Group
        multiple
        value={chosen}
        onChange={(next) => {
          const kept = severities.filter((s) => next.includes(s));
          change({ severity: kept.length > 0 ? kept : undefined });
        }}
      >
        <Group gap={6} h={36} wrap="nowrap" role="group" aria-label="Severity">
          {severities.toReversed().map((s) => (
            <Chip key={s} value={s} size="sm" variant="outline">
              {severityName(s)}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </Input.Wrapper>
  );
}
