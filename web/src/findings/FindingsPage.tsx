import {
  Anchor,
  Button,
  Group,
  NativeSelect,
  Paper,
  SegmentedControl,
  Skeleton,
  Stack,
  Table,
  Text,
} from "@mantine/core";
import { IconShieldCheck } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Fragment, useCallback } from "react";
import { api, type Schemas } from "../api/client";
import { Day } from "../settings/Day";
import { OwnerCell, OwnerChip, OwnerHead, OwnerWithin } from "../teams/OwnerChip";
import { EmptyState } from "../ui/EmptyState";
import { count, duration } from "../ui/format";
import { useNarrow } from "../ui/narrow";
import { useNow } from "../ui/now";
import { NoSuchPage, Pager } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { SortHead } from "../ui/SortHead";
import { Time } from "../ui/Time";
import { Where } from "../ui/Where";
import { SeverityBadge, StatusBadge } from "./badges";
import { Due, EditCharge, Ticket } from "./Charge";
import { ClearFilters, FindingFilters } from "./FindingFilters";
import { type By, GroupList, useGroups } from "./Groups";
import { defaultSort, type FindingsSearch, findingsQuery, first, groupOf, isFiltered, type Sort } from "./query";

export type Finding = Schemas["Finding"];
export type Change = (next: Partial<FindingsSearch>, how?: { replace?: boolean }) => void;

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** The list from which a finding was opened, to go back to it as it was. */
    findings?: FindingsSearch;
  }
}

const noGroups: Schemas["FindingGroupPage"] = {
  items: [],
  page: { number: 1, size: 20, totalItems: 0, totalPages: 0 },
};
const nothing: Schemas["FindingPage"] = { items: [], page: { number: 1, size: 20, totalItems: 0, totalPages: 0 } };

/** FindingsPage is what fails on the fleet now: grouped, filtered, searched and sorted, all of it in the address. */
export function FindingsPage() {
  const search = useSearch({ from: "/findings" }) as FindingsSearch;
  const navigate = useNavigate();
  const change: Change = useCallback(
    (next, { replace = false } = {}) =>
      navigate({
        to: ".",
        search: ((previous: FindingsSearch) => ({ ...previous, page: undefined, ...next })) as never,
        replace,
        resetScroll: false,
      }),
    [navigate],
  );
  const narrow = useNarrow();
  const by = groupOf(search);
  return (
    <>
      <PageTitle
        title="Findings"
        lead="Failed checks on your active instances, as of each instance's last assessment."
        actions={
          <Button variant="default" renderRoot={(props) => <Link to="/checks" {...props} />}>
            All checks
          </Button>
        }
      />
      <Panel mb="md">
        <FindingFilters search={search} change={change} narrow={narrow}>
          {by === null && <SortChoice sort={search.sort ?? defaultSort} onSort={(next) => change(sorted(next))} />}
        </FindingFilters>
        <Group gap="sm" mt="sm">
          <Text size="sm" id="grouped-by">
            Grouped by
          </Text>
          <SegmentedControl
            size="xs"
            aria-labelledby="grouped-by"
            data={[
              { value: "check", label: "Check" },
              { value: "instance", label: "Server" },
              { value: "none", label: "Not grouped" },
            ]}
            value={by ?? "none"}
            onChange={(group) =>
              change({ group: group === "check" ? undefined : (group as Grouping), sort: undefined })
            }
          />
        </Group>
      </Panel>
      {by === null ? (
        <Flat search={search} change={change} narrow={narrow} />
      ) : (
        <Grouped search={search} change={change} narrow={narrow} by={by} />
      )}
    </>
  );
}

type Grouping = FindingsSearch["group"];
type Listed = { search: FindingsSearch; change: Change; narrow: boolean };

/** sorted is an order of the flat list; the usual one stays out of the address. */
const sorted = (next: Sort): Partial<FindingsSearch> => ({
  sort: next === defaultSort ? undefined : next,
  group: next === defaultSort ? "none" : undefined,
});

/** Grouped is what fails by check or by server. */
function Grouped({ search, change, narrow, by }: Listed & { by: By }) {
  const query = findingsQuery(search);
  const { sort: _, ...filters } = query ?? {};
  const asked = useGroups({ ...filters, by }, query !== null);
  const data = query ? asked.data : noGroups;
  return (
    <>
      {asked.error && (
        <ProblemNote
          error={asked.error}
          title={data ? "Not up to date" : "Findings could not be loaded"}
          onRetry={asked.refetch}
        />
      )}
      {!data && !asked.error && <Loading rows={narrow ? 5 : 12} />}
      {data && data.items.length === 0 && <Nothing total={data.page.totalItems} search={search} change={change} />}
      {data && data.items.length > 0 && (
        <>
          <GroupList groups={data.items} by={by} list={search} busy={asked.isFetching} />
          <Pager
            page={data.page}
            what={by === "check" ? "checks" : "servers"}
            onTurn={(page) => change({ page: page === 1 ? undefined : page })}
          />
        </>
      )}
      {data && (
        <Text className="visually-hidden" role="status">
          {count(data.page.totalItems)} {by === "check" ? "checks" : "servers"} with findings
        </Text>
      )}
    </>
  );
}

/** Flat is the list of findings, one a row. */
function Flat({ search, change, narrow }: Listed) {
  const query = findingsQuery(search);
  const asked = api.useQuery(
    "get",
    "/api/v1/findings",
    { params: { query: query ?? {} } },
    { enabled: query !== null, placeholderData: keepPreviousData },
  );
  const data = query ? asked.data : nothing;
  const sort = search.sort ?? defaultSort;
  const onSort = (next: Sort) => change(sorted(next));
  return (
    <>
      {asked.error && (
        <ProblemNote
          error={asked.error}
          title={data ? "Not up to date" : "Findings could not be loaded"}
          onRetry={asked.refetch}
        />
      )}
      {!data && !asked.error && <Loading rows={narrow ? 5 : 12} />}
      {data && data.items.length === 0 && <Nothing total={data.page.totalItems} search={search} change={change} />}
      {data && data.items.length > 0 && (
        <>
          {narrow ? (
            <Cards findings={data.items} list={search} busy={asked.isFetching} />
          ) : (
            <FindingTable findings={data.items} list={search} busy={asked.isFetching} sort={sort} onSort={onSort} />
          )}
          <Pager page={data.page} what="findings" onTurn={(page) => change({ page: page === 1 ? undefined : page })} />
        </>
      )}
      {data && (
        <Text className="visually-hidden" role="status">
          {count(data.page.totalItems)} findings
        </Text>
      )}
    </>
  );
}

const sortNames: [Sort, string][] = [
  ["-severity", "Severity, worst first"],
  ["severity", "Severity, mildest first"],
  ["firstSeenAt", "Open for longest"],
  ["-firstSeenAt", "Newest first"],
  ["dueAt", "Due, longest overdue first"],
  ["-dueAt", "Due, latest first"],
  ["instance", "Instance, A to Z"],
  ["-instance", "Instance, Z to A"],
  ["checkId", "Check, first to last"],
  ["-checkId", "Check, last to first"],
  ["-lastSeenAt", "Last seen, latest first"],
  ["lastSeenAt", "Last seen, oldest first"],
];

/** SortChoice orders the cards, which have no columns to click on. */
function SortChoice({ sort, onSort }: { sort: Sort; onSort: (sort: Sort) => void }) {
  return (
    <NativeSelect
      label="Order"
      value={sort}
      onChange={(e) => onSort(e.currentTarget.value as Sort)}
      data={sortNames.map(([value, label]) => ({ value, label }))}
    />
  );
}

type Rows = { findings: Finding[]; list: FindingsSearch; busy: boolean };

function FindingLink({ finding, list }: { finding: Finding; list: FindingsSearch }) {
  return (
    <Anchor
      component={Link}
      to="/findings/$findingId"
      params={{ findingId: finding.id } as never}
      state={{ findings: list } as never}
      fw={550}
      size="sm"
    >
      {finding.check.title}
    </Anchor>
  );
}

/** Object is what breaks the check, as the server calls it. */
function ObjectName({ finding }: { finding: Finding }) {
  const text = finding.object ?? (finding.status === "notAssessed" ? finding.reason : finding.evidence);
  if (!text) return null;
  return (
    <Text size="xs" ff={finding.object ? "monospace" : undefined} c="dimmed" lineClamp={2} title={text}>
      {text}
    </Text>
  );
}

/** AcceptedUntil is the day on which an accepted finding is open again. */
function AcceptedUntil({ finding }: { finding: Finding }) {
  if (!finding.acceptedUntil) return null;
  return (
    <Text size="xs" c="dimmed" component="div">
      until <Day at={finding.acceptedUntil} />
    </Text>
  );
}

/** Since is how long a finding has been there. */
function Since({ finding }: { finding: Finding }) {
  const now = useNow(60_000);
  return (
    <Text size="sm" span className="numbers" style={{ whiteSpace: "nowrap" }}>
      {duration(Math.max(60_000, now.getTime() - Date.parse(finding.firstSeenAt)))}
    </Text>
  );
}

const columns: { name: string; first?: Sort }[] = [
  { name: "Severity", first: first.severity },
  { name: "Finding", first: first.checkId },
  { name: "Where", first: first.instance },
  { name: "Open for", first: first.firstSeenAt },
  { name: "Last seen", first: first.lastSeenAt },
  { name: "Due", first: first.dueAt },
  { name: "Assignee" },
  { name: "Ticket" },
  { name: "Status" },
];

function FindingTable({ findings, list, busy, sort, onSort }: Rows & { sort: Sort; onSort: (sort: Sort) => void }) {
  return (
    <Panel p={0}>
      <Table.ScrollContainer minWidth={1100} type="native" tabIndex={0} role="region" aria-label="Findings">
        <Table highlightOnHover verticalSpacing="sm" horizontalSpacing="sm" aria-busy={busy} aria-label="Findings">
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Fragment key={column.name}>
                  <SortHead {...column} sort={sort} onSort={onSort} />
                  {column.name === "Where" && <OwnerHead crowded sort={sort} onSort={onSort} />}
                </Fragment>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {findings.map((finding) => (
              <Table.Tr key={finding.id} data-finding={finding.id} style={{ verticalAlign: "top" }}>
                <Table.Td>
                  <SeverityBadge severity={finding.check.severity} />
                </Table.Td>
                <Table.Td miw={260}>
                  <FindingLink finding={finding} list={list} />
                  <Text size="xs" c="dimmed" className="numbers">
                    {finding.check.id}
                  </Text>
                  <ObjectName finding={finding} />
                </Table.Td>
                <Table.Td>
                  <Where {...finding} />
                  <OwnerWithin crowded owner={finding.owner} />
                </Table.Td>
                <OwnerCell crowded owner={finding.owner} />
                <Table.Td>
                  <Since finding={finding} />
                </Table.Td>
                <Table.Td>
                  <Time at={finding.lastSeenAt} relative />
                </Table.Td>
                <Table.Td>
                  <Due finding={finding} />
                </Table.Td>
                <Table.Td>
                  <Text size="sm" span style={{ overflowWrap: "anywhere" }}>
                    <bdi>{finding.assigneeName}</bdi>
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Group gap={4} wrap="nowrap" align="flex-start">
                    {finding.ticketUrl && <Ticket url={finding.ticketUrl} />}
                    <EditCharge finding={finding} />
                  </Group>
                </Table.Td>
                <Table.Td>
                  <StatusBadge status={finding.status} />
                  <AcceptedUntil finding={finding} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Panel>
  );
}

function Cards({ findings, list, busy }: Rows) {
  return (
    <Stack gap="sm" aria-busy={busy}>
      {findings.map((finding) => (
        <Paper key={finding.id} withBorder p="sm" data-finding={finding.id}>
          <Group gap={6} mb={4}>
            <SeverityBadge severity={finding.check.severity} />
            <StatusBadge status={finding.status} />
            <AcceptedUntil finding={finding} />
          </Group>
          <FindingLink finding={finding} list={list} />
          <ObjectName finding={finding} />
          <Group justify="space-between" gap="xs" mt={6}>
            <Where {...finding} />
            <Since finding={finding} />
          </Group>
          <OwnerChip owner={finding.owner} />
          <InCharge finding={finding} />
        </Paper>
      ))}
    </Stack>
  );
}

/** InCharge is a card's line of when a finding is due, who closes it, and its ticket. */
function InCharge({ finding: f }: { finding: Finding }) {
  return (
    <Group gap="xs" mt={6} align="flex-start">
      {f.dueAt && (
        <Text size="sm" c="dimmed" span>
          Due
        </Text>
      )}
      <Due finding={f} />
      {f.assigneeName && (
        <Text size="sm" span style={{ overflowWrap: "anywhere" }}>
          <bdi>{f.assigneeName}</bdi>
        </Text>
      )}
      {f.ticketUrl && <Ticket url={f.ticketUrl} />}
      <EditCharge finding={f} />
    </Group>
  );
}

function Loading({ rows }: { rows: number }) {
  return (
    <Panel p="sm">
      <Stack gap="sm" role="status" aria-label="Loading findings">
        {Array.from({ length: rows }, (_, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows without anything in them have nothing else
          <Skeleton key={n} height={40} />
        ))}
      </Stack>
    </Panel>
  );
}

/** Nothing says why the list is empty, and what to do about it. */
function Nothing({ total, search, change }: { total: number; search: FindingsSearch; change: Change }) {
  const icon = <IconShieldCheck size={32} aria-hidden />;
  if (total > 0) {
    return (
      <Panel>
        <NoSuchPage icon={icon} total={total} what="findings" toFirst={() => change({})} />
      </Panel>
    );
  }
  if (isFiltered(search)) {
    return (
      <Panel>
        <EmptyState icon={icon} title="No finding matches" action={<ClearFilters change={change} />}>
          Choose other filters, or clear them.
        </EmptyState>
      </Panel>
    );
  }
  return (
    <Panel>
      <EmptyState icon={icon} title="No open findings">
        Either every check passes, or no instance has been assessed yet. Instances with a connection are assessed every
        six hours.{" "}
        <Anchor component={Link} to="/findings" search={{ status: ["notAssessed"] } as never} size="sm">
          What could not be assessed
        </Anchor>
      </EmptyState>
    </Panel>
  );
}
