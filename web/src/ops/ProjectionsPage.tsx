import { Button, Group, Skeleton, Stack, Table, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { count, duration, plural } from "../ui/format";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { Time } from "../ui/Time";
import { TypedConfirm } from "../ui/TypedConfirm";
import { BudgetWarnings } from "./Budgets";
import { Difference } from "./Difference";
import { DroppedEngines } from "./DroppedEngines";
import { EventLogs } from "./EventLogs";
import { FallenLoops } from "./FallenLoops";
import { ProjectionState } from "./ProjectionState";

type Projection = Schemas["Projection"];

/** Asked is a rebuild that was asked for here: which, and when it was known to have begun. */
type Asked = { name: string; begunAt: number };

/** ProjectionsPage shows how far each read model is, and lets an administrator fill one anew. */
export function ProjectionsPage() {
  const admin = useSession().can("admin");
  const [confirming, setConfirming] = useState({ name: "", open: false });
  const [asked, setAsked] = useState<Asked | null>(null);
  const [shown, setShown] = useState<string | null>(null);
  const { data, error, dataUpdatedAt, isFetching, refetch } = api.useQuery(
    "get",
    "/api/v1/ops/projections",
    {},
    { ...usePolling(() => (asked ? 1_000 : 5_000)), staleTime: 0 },
  );
  useEffect(() => {
    if (!asked || dataUpdatedAt <= asked.begunAt) return;
    const status = data?.items.find((p) => p.name === asked.name)?.status;
    if (status === "rebuilding") return;
    setAsked(null);
    setShown(asked.name);
    if (status === "running") say(`${asked.name} was rebuilt.`);
  }, [asked, data, dataUpdatedAt]);
  const rebuild = api.useMutation("post", "/api/v1/ops/projections/{name}/rebuild");
  const begin = (name: string) =>
    rebuild.mutate(
      { params: { path: { name } } },
      {
        onSuccess: () => {
          setShown(null);
          setConfirming({ name, open: false });
          setAsked({ name, begunAt: Date.now() });
          void refetch();
        },
      },
    );
  const confirm = (name: string) => {
    rebuild.reset();
    setConfirming({ name, open: true });
  };
  return (
    <>
      <PageTitle
        title="Projections"
        lead="Lists and charts are read models, built from the event log. This page shows how far each has read, and updates every 5 seconds."
      />
      <Stack gap="lg">
        <BudgetWarnings />
        <FallenLoops />
        {error && <ProblemNote error={error} title="Projections could not be loaded" onRetry={refetch} />}
        <Panel p={0} aria-busy={isFetching}>
          {!data && !error && <Skeleton height={260} m="md" w="auto" />}
          {data && (
            <List
              items={data.items}
              rebuilding={asked?.name ?? null}
              onRebuild={admin ? confirm : null}
              onDifference={(name) => setShown(name)}
            />
          )}
        </Panel>
        {shown && <Difference key={shown} name={shown} onClose={() => setShown(null)} />}
        <EventLogs />
        <DroppedEngines />
      </Stack>
      <TypedConfirm
        opened={confirming.open}
        onClose={() => setConfirming({ ...confirming, open: false })}
        onConfirm={() => begin(confirming.name)}
        title={`Rebuild ${confirming.name}`}
        name={confirming.name}
        verb="Rebuild"
        busy={rebuild.isPending}
        error={rebuild.error}
      >
        Muster fills a new generation from the event log while the current one keeps serving. When it has caught up,
        Muster compares the two and switches. Users see no interruption, but a long history causes load for some
        minutes.
      </TypedConfirm>
    </>
  );
}

function List({
  items,
  rebuilding,
  onRebuild,
  onDifference,
}: {
  items: Projection[];
  rebuilding: string | null;
  onRebuild: ((name: string) => void) | null;
  onDifference: (name: string) => void;
}) {
  return (
    <Table.ScrollContainer type="native" minWidth={880} tabIndex={0} role="region" aria-label="Projections">
      <Table verticalSpacing="sm" horizontalSpacing="md">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Name</Table.Th>
            <Table.Th scope="col">Status</Table.Th>
            <Table.Th scope="col" ta="right">
              Position
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Lag
            </Table.Th>
            <Table.Th scope="col">Last error</Table.Th>
            <Table.Th scope="col">Updated</Table.Th>
            <Table.Th scope="col" pos="relative">
              <span className="visually-hidden">Actions</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((p) => (
            <Table.Tr key={p.name} data-projection={p.name}>
              <Table.Td>
                <Text size="sm" fw={600}>
                  {p.name}
                </Text>
                <Text size="xs" c="dimmed">
                  reads {p.logs.join(", ")}
                </Text>
              </Table.Td>
              <Table.Td>
                <ProjectionState status={p.name === rebuilding ? "rebuilding" : p.status} />
              </Table.Td>
              <Table.Td ta="right" className="numbers">
                {count(p.position)} of {count(p.headPosition)}
              </Table.Td>
              <Table.Td ta="right" className="numbers">
                <Lag projection={p} />
              </Table.Td>
              <Table.Td maw={280}>
                <Trouble projection={p} />
              </Table.Td>
              <Table.Td>{p.updatedAt ? <Time at={p.updatedAt} relative /> : "never"}</Table.Td>
              <Table.Td>
                <Group gap={6} justify="flex-end" wrap="nowrap">
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    onClick={() => onDifference(p.name)}
                    aria-label={`Last difference of ${p.name}`}
                  >
                    Difference
                  </Button>
                  {onRebuild && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      onClick={() => onRebuild(p.name)}
                      disabled={p.status === "rebuilding" || p.name === rebuilding}
                      aria-label={`Rebuild ${p.name}`}
                    >
                      Rebuild
                    </Button>
                  )}
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Lag({ projection: p }: { projection: Projection }) {
  if (p.lagEvents === 0) return "none";
  return (
    <>
      {plural(p.lagEvents, "event")}
      <Text size="xs" c="dimmed">
        {duration(p.lagSeconds * 1000)}
      </Text>
    </>
  );
}

function Trouble({ projection: p }: { projection: Projection }) {
  if (!p.lastError && p.parked === 0) {
    return (
      <Text size="sm" c="dimmed">
        none
      </Text>
    );
  }
  return (
    <>
      {p.lastError && <Text size="sm">{p.lastError}</Text>}
      {p.parked > 0 && <Text size="sm">{plural(p.parked, "event")} set aside: see Dead letters.</Text>}
    </>
  );
}
