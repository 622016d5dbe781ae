import { Anchor, Button, Group, MultiSelect, NativeSelect, Select, Skeleton, Text } from "@mantine/core";
import { IconPlug, IconPlus } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { engineName, engines } from "../engines";
import { noServers } from "../teams/noServers";
import { EmptyState } from "../ui/EmptyState";
import { plural } from "../ui/format";
import { NotAvailable } from "../ui/NotAvailable";
import { Pager, usualSize } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { type Selection, useSelection } from "../ui/useSelection";
import type { instanceStatuses } from "../url/schemas";
import { BulkTags } from "./BulkTags";
import { InstanceList } from "./InstanceList";
import { SearchField } from "./SearchField";
import { type Sort, sortNames } from "./sorting";
import { awaited } from "./standing";
import { statuses, statusNames } from "./states";
import { TagFilter } from "./TagFilter";
import { TagGroups } from "./TagGroups";
import { useTagKeys } from "./Tags";

type Search = {
  q?: string;
  engine?: (typeof engines)[number][];
  instanceId?: string[];
  tag?: string[];
  /** The key of the tag by whose values the servers are grouped. */
  group?: string;
  owner?: string;
  status?: (typeof instanceStatuses)[number];
  sort?: Sort;
  page?: number;
  pageSize?: number;
};

/** InstancesPage lists the organization's servers, and how each stands, or groups them by a tag. */
export function InstancesPage() {
  const session = useSession();
  const search: Search = useSearch({ from: "/instances" });
  const navigate = useNavigate({ from: "/instances" });
  const change = (next: Search, replace = false) =>
    navigate({ search: (previous: Search) => ({ ...previous, page: undefined, ...next }), replace });
  const engine = search.engine?.length ? search.engine : undefined;
  const tag = search.tag?.length ? search.tag : undefined;
  const filter = { q: search.q, engine, id: search.instanceId, tag, owner: search.owner, status: search.status };
  const list = useList(search, filter);
  const tags = session.can("alerts:write");
  const selection = useSelection(list.data?.items ?? [], search);
  const grouped = search.group !== undefined;
  return (
    <>
      <PageTitle
        title="Instances"
        lead="The database instances of your organization."
        actions={session.can("admin") && <Ways />}
      />
      <Panel p={0}>
        <Group p="md" gap="sm" align="flex-start">
          <SearchField
            main
            label="Search instances"
            value={search.q ?? ""}
            onSearch={(q) => change({ q: q || undefined }, true)}
          />
          <MultiSelect
            aria-label="Engine"
            placeholder={engine ? undefined : "All engines"}
            data={engines.map((value) => ({ value, label: engineName(value) }))}
            value={engine ?? []}
            onChange={(chosen) => change({ engine: chosen.length ? (chosen as Search["engine"]) : undefined })}
            clearable
            clearButtonProps={{ "aria-label": "All engines" }}
            style={field}
          />
          <TagFilter value={tag ?? []} onChange={(chosen) => change({ tag: chosen.length ? chosen : undefined })} />
          <Select
            aria-label="Status"
            data={[
              { value: "all", label: "All states" },
              ...statuses.map((value) => ({ value: value as string, label: statusNames[value] })),
              { value: "active", label: "All but inactive" },
            ]}
            value={search.status ?? "all"}
            onChange={(status) => change({ status: status === "all" ? undefined : (status as Search["status"]) })}
            allowDeselect={false}
            style={field}
          />
          <GroupChoice value={search.group} onChange={(group) => change({ group })} />
          {!grouped && (
            <NativeSelect
              aria-label="Order"
              data={sortNames.map(([value, label]) => ({ value: value as string, label: `Order: ${label}` }))}
              value={search.sort ?? "name"}
              onChange={(e) => {
                const sort = e.currentTarget.value as Sort;
                change({ sort: sort === "name" ? undefined : sort });
              }}
              style={field}
            />
          )}
        </Group>
        {search.instanceId && (
          <Text size="sm" px="md" pb="sm">
            Only the {plural(search.instanceId.length, "instance")} of the dashboard's filter.{" "}
            <Anchor
              component="button"
              type="button"
              inherit
              underline="always"
              onClick={() => change({ instanceId: undefined })}
            >
              Show all
            </Anchor>
          </Text>
        )}
        {search.group !== undefined ? (
          <TagGroups tagKey={search.group} query={filter} />
        ) : (
          <Listed list={list} selection={tags ? selection : undefined} search={search} change={change} />
        )}
      </Panel>
      {tags && !grouped && (
        <BulkTags
          instances={list.data?.items ?? []}
          total={list.data?.page.totalItems ?? 0}
          filter={filter}
          selection={selection}
        />
      )}
      {list.data && !grouped && (
        <Pager
          page={list.data.page}
          what="instances"
          onTurn={(page) => change({ page })}
          onSize={(size) => change({ pageSize: size === usualSize ? undefined : size })}
        />
      )}
    </>
  );
}

const field = { flex: "1 1 9rem", minWidth: 0, maxWidth: "22rem" };

type Filter = {
  q?: string;
  engine?: Search["engine"];
  id?: string[];
  tag?: string[];
  owner?: string;
  status?: Search["status"];
};

/** useList is the page of the list that an address names; while it is grouped, none. */
const useList = ({ group, sort, page, pageSize }: Search, filter: Filter) =>
  api.useQuery(
    "get",
    "/api/v1/instances",
    { params: { query: { ...filter, sort, page, pageSize } } },
    {
      enabled: group === undefined,
      placeholderData: keepPreviousData,
      // A server goes down within half a minute, and is looked at for the first time within seconds.
      ...usePolling<Schemas["InstancePage"]>((list) => (list.items.some(awaited) ? 3_000 : 30_000)),
    },
  );

type ListedProps = {
  list: ReturnType<typeof useList>;
  selection: Selection | undefined;
  search: Search;
  change: (next: Search) => void;
};

function Listed({ list: { data, error, isPending, isFetching, refetch }, selection, search, change }: ListedProps) {
  const filtered = [
    search.q,
    search.engine?.length,
    search.status,
    search.instanceId,
    search.tag?.length,
    search.owner,
  ].some(Boolean);
  return (
    <div aria-busy={isFetching}>
      {error && !data && (
        <div style={{ padding: "0 16px 16px" }}>
          <ProblemNote error={error} title="Instances could not be loaded" onRetry={refetch} />
        </div>
      )}
      {isPending && <Waiting />}
      <div style={{ padding: "0 16px" }}>
        <NotAvailable missing={data?.items[0]?.unavailable} />
      </div>
      {data && data.items.length > 0 && (
        <InstanceList
          items={data.items}
          selection={selection}
          sort={search.sort ?? "name"}
          onSort={(sort) => change({ sort: sort === "name" ? undefined : sort })}
        />
      )}
      {data && data.items.length === 0 && <None filtered={filtered} />}
    </div>
  );
}

/** GroupChoice chooses the tag to group by, where servers have tags. */
function GroupChoice({ value, onChange }: { value: string | undefined; onChange: (key: string | undefined) => void }) {
  const names = useTagKeys().keys.map(({ key }) => key);
  if (names.length === 0 && value === undefined) return null;
  return (
    <Select
      aria-label="Group"
      data={[
        { value: "", label: "Not grouped" },
        ...[...new Set([...names, ...(value ? [value] : [])])].map((key) => ({ value: key, label: `By ${key}` })),
      ]}
      value={value ?? ""}
      onChange={(key) => onChange(key || undefined)}
      allowDeselect={false}
      style={field}
    />
  );
}

function Ways() {
  return (
    <>
      <Button
        renderRoot={(props) => <Link to="/instances/connect" {...props} />}
        variant="default"
        leftSection={<IconPlug size={16} aria-hidden />}
      >
        Connect an agent
      </Button>
      <Button
        renderRoot={(props) => <Link to="/instances/new" {...props} />}
        leftSection={<IconPlus size={16} aria-hidden />}
      >
        Add an instance
      </Button>
    </>
  );
}

function None({ filtered }: { filtered: boolean }) {
  const session = useSession();
  const admin = session.can("admin");
  if (filtered) {
    return (
      <EmptyState
        title="No instance matches"
        action={
          <Button renderRoot={(props) => <Link to="/instances" search={{}} {...props} />} variant="default" size="xs">
            Show all instances
          </Button>
        }
      />
    );
  }
  if (session.role === "team") return <EmptyState title={noServers.title}>{noServers.why}</EmptyState>;
  return (
    <EmptyState title="No instances yet" action={admin && <Group mt="xs">{<Ways />}</Group>}>
      {admin
        ? "Add an instance with its connection, or connect agents that you already run."
        : "An administrator can add the first one."}
    </EmptyState>
  );
}

function Waiting() {
  return (
    <div style={{ padding: 16 }}>
      {[1, 2, 3, 4, 5, 6, 7, 8].map((n) => (
        <Skeleton key={n} height={36} mb={14} />
      ))}
    </div>
  );
}
