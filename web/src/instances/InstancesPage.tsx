import { Anchor, Button, Group, MultiSelect, Select, Skeleton, Table, Text } from "@mantine/core";
import { IconPlug, IconPlus } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { count, engineName, plural } from "../ui/format";
import { Pager } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { SortHead } from "../ui/SortHead";
import { Time, useNow } from "../ui/Time";
import type { engines as allEngines } from "../url/schemas";
import { engines } from "../url/schemas";
import { ScoreLine } from "./ScoreLine";
import { SearchField } from "./SearchField";
import { first, type Sort } from "./sorting";
import { awaited, type Instance, Standing } from "./standing";

type Search = {
  q?: string;
  engine?: (typeof allEngines)[number][];
  status?: "active" | "inactive";
  sort?: Sort;
  page?: number;
};

/** InstancesPage lists the organization's servers, and how each stands. */
export function InstancesPage() {
  const session = useSession();
  const search: Search = useSearch({ from: "/instances" });
  const navigate = useNavigate({ from: "/instances" });
  const change = (next: Search, replace = false) =>
    navigate({ search: (previous: Search) => ({ ...previous, page: undefined, ...next }), replace });
  const engine = search.engine?.length ? search.engine : undefined;
  const { data, error, isPending, isFetching, refetch } = api.useQuery(
    "get",
    "/api/v1/instances",
    { params: { query: { q: search.q, engine, status: search.status, sort: search.sort, page: search.page } } },
    {
      placeholderData: keepPreviousData,
      // An instance is silent after minutes, and looked at for the first time within seconds.
      ...usePolling<Schemas["InstancePage"]>((list) => (list.items.some(awaited) ? 3_000 : 30_000)),
    },
  );
  const filtered = Boolean(search.q || engine || search.status);
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
          <Select
            aria-label="Status"
            data={[
              { value: "all", label: "Active and inactive" },
              { value: "active", label: "Active" },
              { value: "inactive", label: "Inactive" },
            ]}
            value={search.status ?? "all"}
            onChange={(status) => change({ status: status === "active" || status === "inactive" ? status : undefined })}
            allowDeselect={false}
            style={{ flex: "1 1 12rem", maxWidth: "22rem" }}
          />
        </Group>
        <div aria-busy={isFetching}>
          {error && !data && (
            <div style={{ padding: "0 16px 16px" }}>
              <ProblemNote error={error} title="Instances could not be loaded" onRetry={refetch} />
            </div>
          )}
          {isPending && <Waiting />}
          {data && data.items.length > 0 && (
            <List
              items={data.items}
              silentMinutes={session.organization.watch.silentMinutes}
              sort={search.sort ?? "name"}
              onSort={(sort) => change({ sort: sort === "name" ? undefined : sort })}
            />
          )}
          {data && data.items.length === 0 && <None filtered={filtered} admin={session.can("admin")} />}
        </div>
      </Panel>
      {data && <Pager page={data.page} what="instances" onTurn={(page) => change({ page })} />}
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
        ? "Add a PostgreSQL instance with its connection, or connect agents that you already run."
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

type Listed = { items: Instance[]; silentMinutes: number; sort: Sort; onSort: (sort: Sort) => void };

function List({ items, silentMinutes, ...order }: Listed) {
  const now = useNow(10_000);
  return (
    <Table.ScrollContainer type="native" minWidth={1180} tabIndex={0} role="region" aria-label="Instances">
      <Table verticalSpacing="sm" horizontalSpacing="md" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <SortHead name="Name" first={first.name} {...order} />
            <Table.Th scope="col">Engine</Table.Th>
            <Table.Th scope="col" ta="right">
              Databases
            </Table.Th>
            <Table.Th scope="col">State</Table.Th>
            <SortHead name="Score" first={first.score} {...order} />
            <SortHead name="Alerts" first={first.alerts} right {...order} />
            <SortHead name="CPU" first={first.cpu} right {...order} />
            <SortHead name="Disk" first={first.disk} right {...order} />
            <SortHead name="Connections" first={first.connections} right {...order} />
            <SortHead name="Last seen" first={first.lastSeenAt} {...order} />
            <Table.Th scope="col">Last assessed</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((i) => (
            <Table.Tr key={i.id}>
              <Table.Td maw={280}>
                <Anchor
                  renderRoot={(props) => <Link to="/instances/$instanceId" params={{ instanceId: i.id }} {...props} />}
                  fw={600}
                  size="sm"
                >
                  {i.name}
                </Anchor>
                {i.host && (
                  <Text size="xs" c="dimmed">
                    {i.host}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                {engineName(i.engine)}
                {i.version && (
                  <Text size="xs" c="dimmed" className="numbers">
                    {i.version}
                  </Text>
                )}
              </Table.Td>
              <Table.Td ta="right" className="numbers">
                {count(i.databaseCount)}
              </Table.Td>
              <Table.Td maw={300}>
                <Standing instance={i} silentMinutes={silentMinutes} now={now} />
                <Wants instance={i} />
              </Table.Td>
              <Faring health={i.health} />
              <Table.Td>{i.lastSeenAt ? <Time at={i.lastSeenAt} relative /> : "never"}</Table.Td>
              <Table.Td>{assessed(i)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const unknown = (
  <Text size="sm" c="dimmed" span>
    <span aria-hidden>–</span>
    <span className="visually-hidden">not known</span>
  </Text>
);

const percent = (v: number | null) => (v === null ? unknown : `${Math.round(v)} %`);

/** Faring is how a server fares, a cell a figure: what is not known is no 0. */
function Faring({ health: h }: { health: Instance["health"] }) {
  return (
    <>
      <Table.Td>
        {h && h.score !== null ? (
          <Group gap="xs" wrap="nowrap">
            <Text size="sm" fw={600} span className="numbers">
              {h.score}
            </Text>
            <ScoreLine scores={h.scoreHistory} />
          </Group>
        ) : (
          unknown
        )}
      </Table.Td>
      <Table.Td ta="right" className="numbers">
        {h ? count(h.openAlerts) : unknown}
        {h !== null && h.criticalAlerts > 0 && (
          <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
            {count(h.criticalAlerts)} critical
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right" className="numbers">
        {percent(h?.cpuPercent ?? null)}
      </Table.Td>
      <Table.Td ta="right" className="numbers">
        {percent(h?.diskPercent ?? null)}
      </Table.Td>
      <Table.Td ta="right" className="numbers">
        {h && h.connections !== null ? count(h.connections) : unknown}
      </Table.Td>
    </>
  );
}

function assessed(i: Instance) {
  if (i.lastAssessedAt) return <Time at={i.lastAssessedAt} relative />;
  return (
    <Text size="sm" c="dimmed">
      {i.collected ? "not yet" : "fed by push"}
    </Text>
  );
}

/** Wants is what a server lacks: its last error, and grants. */
function Wants({ instance: i }: { instance: Instance }) {
  return (
    <>
      {i.lastError && (
        <Text size="xs" lineClamp={2} title={i.lastError}>
          {i.lastError}
        </Text>
      )}
      {i.missingGrants.length > 0 && (
        <Text size="xs" c="dimmed">
          {plural(i.missingGrants.length, "missing grant")}
        </Text>
      )}
    </>
  );
}
