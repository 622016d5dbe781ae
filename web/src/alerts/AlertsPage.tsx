import { Anchor, Button, Group, NativeSelect, Text } from "@mantine/core";
import { IconBellCheck } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { api, type Schemas } from "../api/client";
import { useSession } from "../api/session";
import { NobodyIsTold } from "../notify/NobodyIsTold";
import { EmptyState } from "../ui/EmptyState";
import { count } from "../ui/format";
import { useNarrow } from "../ui/narrow";
import { useNow } from "../ui/now";
import { NoSuchPage, Pager } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { SelectAll } from "../ui/Selecting";
import { useSelection } from "../ui/useSelection";
import { useAnchor, useScope } from "../window/scope";
import { AlertFilters, ClearFilters } from "./AlertFilters";
import { AlertCards, AlertsLoading, AlertTable } from "./AlertTable";
import { BulkActions } from "./BulkActions";
import { type AlertsSearch, alertsQuery, defaultSort, isFiltered, pageSizes, type Sort, windowText } from "./query";
import { useAlertsSearch } from "./useAlertsSearch";

/** AlertsPage is the explorer: every alert of the scope, searched, filtered, sorted, a page at a time. */
export function AlertsPage() {
  const { search, change } = useAlertsSearch();
  const narrow = useNarrow();
  const list = useAlerts(search);
  return (
    <>
      <PageTitle title="Alerts" lead="Alerts from your instances, agents and rules, open and resolved." />
      <NobodyIsTold mb="md" />
      <Panel mb="md">
        <AlertFilters search={search} change={change} narrow={narrow}>
          <SortChoice search={search} change={change} />
        </AlertFilters>
      </Panel>
      {list.error && !list.data ? (
        <ProblemNote error={list.error} title="Alerts could not be loaded" onRetry={list.refetch} />
      ) : !list.data ? (
        <AlertsLoading rows={narrow ? 5 : 12} narrow={narrow} />
      ) : (
        <List data={list.data} busy={list.isFetching} narrow={narrow} search={search} change={change}>
          {list.error && <ProblemNote error={list.error} title="Not up to date" onRetry={list.refetch} />}
        </List>
      )}
    </>
  );
}

const nothing: Schemas["AlertPage"] = {
  items: [],
  page: { number: 1, size: 20, totalItems: 0, totalPages: 0 },
  unavailable: [],
};

/** useAlerts is the page of the list that an address names. */
function useAlerts(search: AlertsSearch) {
  const { at } = useAnchor();
  const query = useMemo(() => alertsQuery(search, at), [search, at]);
  const asked = api.useQuery(
    "get",
    "/api/v1/alerts",
    { params: { query: query ?? {} } },
    { enabled: query !== null, placeholderData: keepPreviousData },
  );
  return query ? asked : { data: nothing, error: null, isFetching: false, refetch: asked.refetch };
}

type Listed = {
  data: Schemas["AlertPage"];
  busy: boolean;
  narrow: boolean;
  search: AlertsSearch;
  change: ReturnType<typeof useAlertsSearch>["change"];
  children?: ReactNode;
};

function List({ data, busy, narrow, search, change, children }: Listed) {
  const scope = useScope();
  const now = useNow(30_000);
  const { sort, onSort } = sorting(search, change);
  const { can } = useSession();
  const selection = useSelection(data.items, search);
  const acts = can("alerts:write");
  const rows = {
    alerts: data.items,
    scope: scope.search,
    list: search,
    now,
    busy,
    ...(acts && { selection }),
  };
  if (data.items.length === 0) {
    return (
      <Panel>
        {children}
        <Nothing total={data.page.totalItems} search={search} change={change} />
      </Panel>
    );
  }
  return (
    <>
      {children}
      {narrow && acts && (
        <Group mb="xs" px="sm">
          <SelectAll rows={data.items} what="alerts" selection={selection} label="Select all on this page" />
        </Group>
      )}
      {narrow ? <AlertCards {...rows} /> : <AlertTable {...rows} sort={sort} onSort={onSort} />}
      {acts && <BulkActions alerts={data.items} selection={selection} />}
      <Pager page={data.page} what="alerts" onTurn={(page) => change({ page: page === 1 ? undefined : page })} />
      <PageSize
        size={data.page.size}
        onChange={(size) => change({ pageSize: size === pageSizes[0] ? undefined : size })}
      />
      <Text className="visually-hidden" role="status">
        {count(data.page.totalItems)} alerts
      </Text>
    </>
  );
}

const sorting = (search: AlertsSearch, change: Listed["change"]) => ({
  sort: search.sort ?? defaultSort,
  onSort: (next: Sort) => change({ sort: next === defaultSort ? undefined : next }),
});

const sortNames: [Sort, string][] = [
  ["-lastTriggeredAt", "Last triggered, latest first"],
  ["lastTriggeredAt", "Last triggered, oldest first"],
  ["-createdAt", "First triggered, latest first"],
  ["createdAt", "First triggered, oldest first"],
  ["-severity", "Severity, highest first"],
  ["severity", "Severity, lowest first"],
  ["state", "State, open first"],
  ["-state", "State, resolved first"],
];

/** SortChoice orders the cards, which have no columns to click on. */
function SortChoice({ search, change }: Pick<Listed, "search" | "change">) {
  const { sort, onSort } = sorting(search, change);
  return (
    <NativeSelect
      label="Order"
      value={sort}
      onChange={(e) => onSort(e.currentTarget.value as Sort)}
      data={sortNames.map(([value, label]) => ({ value, label }))}
    />
  );
}

function PageSize({ size, onChange }: { size: number; onChange: (size: number) => void }) {
  const sizes = [...new Set([...pageSizes, size])].sort((a, b) => a - b);
  return (
    <Group gap="xs" mt="xs">
      <Text size="sm" c="dimmed" component="label" htmlFor="page-size">
        Alerts per page
      </Text>
      <NativeSelect
        id="page-size"
        size="xs"
        value={String(size)}
        onChange={(e) => onChange(Number(e.currentTarget.value))}
        data={sizes.map(String)}
      />
    </Group>
  );
}

/** Nothing says why the list is empty, and what to do about it. */
function Nothing({ total, search, change }: { total: number } & Pick<Listed, "search" | "change">) {
  const { matchesNothing } = useScope();
  const admin = useSession().can("admin");
  const windowed = windowText(search) !== null;
  const icon = <IconBellCheck size={32} aria-hidden />;
  if (total > 0) {
    return <NoSuchPage icon={icon} total={total} what="alerts" toFirst={() => change({})} />;
  }
  if (isFiltered(search) || windowed || search.owner || search.instanceId || search.tag) {
    return (
      <EmptyState
        icon={icon}
        title="No alert matches"
        action={
          <Group gap="xs" mt="xs" justify="center">
            {isFiltered(search) && <ClearFilters change={change} />}
            {windowed && (
              <Button
                size="compact-sm"
                variant="subtle"
                onClick={() => change({ range: undefined, from: undefined, to: undefined })}
              >
                Any time
              </Button>
            )}
          </Group>
        }
      >
        {matchesNothing
          ? "The filter names no valid instance or tag. Choose instances above."
          : "Choose a longer time range or other instances, or clear the filters."}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={icon} title="No alerts yet">
      Muster raises alerts for the instances it watches, and accepts alerts from Alertmanager and other tools.{" "}
      {admin && (
        <Anchor component={Link} to="/instances/connect" size="sm">
          How to send alerts
        </Anchor>
      )}
    </EmptyState>
  );
}
