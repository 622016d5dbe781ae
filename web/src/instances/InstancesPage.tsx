import { Anchor, Button, Group, MultiSelect, Select, Skeleton, Text } from "@mantine/core";
import { IconPlug, IconPlus } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { engineName, engines } from "../engines";
import { EmptyState } from "../ui/EmptyState";
import { plural } from "../ui/format";
import { NotAvailable } from "../ui/NotAvailable";
import { Pager, usualSize } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import type { instanceStatuses } from "../url/schemas";
import { InstanceList } from "./InstanceList";
import { SearchField } from "./SearchField";
import type { Sort } from "./sorting";
import { awaited } from "./standing";
import { statuses, statusNames } from "./states";
import { TagFilter } from "./TagFilter";

type Search = {
  q?: string;
  engine?: (typeof engines)[number][];
  instanceId?: string[];
  tag?: string[];
  status?: (typeof instanceStatuses)[number];
  sort?: Sort;
  page?: number;
  pageSize?: number;
};

/** InstancesPage lists the organization's servers, and how each stands. */
export function InstancesPage() {
  const session = useSession();
  const search: Search = useSearch({ from: "/instances" });
  const navigate = useNavigate({ from: "/instances" });
  const change = (next: Search, replace = false) =>
    navigate({ search: (previous: Search) => ({ ...previous, page: undefined, ...next }), replace });
  const engine = search.engine?.length ? search.engine : undefined;
  const tag = search.tag?.length ? search.tag : undefined;
  const { data, error, isPending, isFetching, refetch } = api.useQuery(
    "get",
    "/api/v1/instances",
    {
      params: {
        query: {
          q: search.q,
          engine,
          id: search.instanceId,
          tag,
          status: search.status,
          sort: search.sort,
          page: search.page,
          pageSize: search.pageSize,
        },
      },
    },
    {
      placeholderData: keepPreviousData,
      // A server goes down within half a minute, and is looked at for the first time within seconds.
      ...usePolling<Schemas["InstancePage"]>((list) => (list.items.some(awaited) ? 3_000 : 30_000)),
    },
  );
  const filtered = Boolean(search.q || engine || search.status || search.instanceId || tag);
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
            style={{ flex: "1 1 12rem", maxWidth: "22rem" }}
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
            style={{ flex: "1 1 12rem", maxWidth: "22rem" }}
          />
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
              sort={search.sort ?? "name"}
              onSort={(sort) => change({ sort: sort === "name" ? undefined : sort })}
            />
          )}
          {data && data.items.length === 0 && <None filtered={filtered} admin={session.can("admin")} />}
        </div>
      </Panel>
      {data && (
        <Pager
          page={data.page}
          what="instances"
          onTurn={(page) => change({ page })}
          onSize={(size) => change({ pageSize: size === usualSize ? undefined : size })}
        />
      )}
    </>
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

function None({ filtered, admin }: { filtered: boolean; admin: boolean }) {
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
