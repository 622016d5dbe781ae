import { Anchor, Badge, Button, Group, NativeSelect, Stack, Table, Text, Title } from "@mantine/core";
import { IconPencil, IconTargetArrow } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api, client } from "../api/client";
import { useSession } from "../api/session";
import { ListSkeleton, ListTable } from "../settings/ListTable";
import { EmptyState } from "../ui/EmptyState";
import { plural } from "../ui/format";
import { NotAvailable } from "../ui/NotAvailable";
import { Pager } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { sayProblem } from "../ui/say";
import { Time } from "../ui/Time";
import { type Editing, ObjectivesDialog } from "./ObjectivesDialog";
import classes from "./objectives.module.css";
import { about, aims, available, colors, long, monthName, months, type State, summary, verdicts } from "./words";

/** ObjectivesPage is what servers have to keep, and how they kept it in a month. */
export function ObjectivesPage() {
  const { can } = useSession();
  const { month, page } = useSearch({ from: "/objectives" });
  const navigate = useNavigate({ from: "/objectives" });
  const list = api.useQuery("get", "/api/v1/objectives", {}, { staleTime: 0 });
  const states = api.useQuery(
    "get",
    "/api/v1/objectives/status",
    { params: { query: { month, page, pageSize: 50 } } },
    { staleTime: 0, refetchInterval: 60_000, placeholderData: keepPreviousData },
  );
  const [editing, setEditing] = useState<Editing | null>(null);
  // As it is now: what is saved must not undo what somebody else has changed meanwhile.
  const edit = async () => {
    try {
      const { data, response } = await client.GET("/api/v1/objectives");
      if (data) setEditing({ items: data.items, etag: response.headers.get("ETag") ?? "*" });
    } catch (error) {
      sayProblem(error);
    }
  };
  const known = states.data;
  return (
    <>
      <PageTitle
        title="Objectives"
        lead="Time in maintenance windows does not count, and unknown time never counts as up."
        actions={
          can("admin") && (
            <Button leftSection={<IconPencil size={16} aria-hidden />} onClick={edit}>
              Edit objectives
            </Button>
          )
        }
      />
      {list.isError && <ProblemNote error={list.error} title="Objectives could not be loaded" onRetry={list.refetch} />}
      {list.data?.items.length === 0 && (
        <EmptyState icon={<IconTargetArrow size={28} aria-hidden />} title="No objectives">
          An administrator sets how available servers have to be, and how long statements may take.
        </EmptyState>
      )}
      {list.data && list.data.items.length > 0 && (
        <Panel mb="md">
          <Stack gap={4} component="ol" m={0} pl="lg" aria-label="Objectives in their order">
            {list.data.items.map((o, i) => (
              <li key={JSON.stringify(o)}>
                <Text size="sm">
                  <bdi>{about(o, i === 0)}</bdi>: {aims(o)}
                </Text>
              </li>
            ))}
          </Stack>
        </Panel>
      )}
      <Group justify="space-between" mb="sm" align="end">
        <Title order={2} size="h4">
          {known ? monthName(known.month) : "This month"}
        </Title>
        <NativeSelect
          label="Month (UTC)"
          value={known?.month ?? ""}
          onChange={(e) => navigate({ search: { month: e.currentTarget.value } })}
          data={months(new Date(), 13).map((value) => ({ value, label: monthName(value) }))}
        />
      </Group>
      {states.isError && !known && (
        <ProblemNote error={states.error} title="The month could not be loaded" onRetry={states.refetch} />
      )}
      {states.isPending && <ListSkeleton rows={5} />}
      {known && <NotAvailable missing={known.unavailable} />}
      {known && known.page.totalItems > 0 && (
        <>
          <Text size="sm" mb="xs">
            {summary(known)}{" "}
            {known.knownSince && (
              <>
                Known since <Time at={known.knownSince} />.
              </>
            )}
          </Text>
          <ListTable
            label="Servers and their objectives"
            columns={["Server", "Up", "Down", "Unknown", "Maintenance", "Availability", "Budget used", "Mean latency"]}
            minWidth={900}
            busy={states.isFetching}
          >
            {known.items.map((s) => (
              <Row key={s.instance.id} state={s} />
            ))}
          </ListTable>
          <Pager page={known.page} what="servers" onTurn={(next) => navigate({ search: { month, page: next } })} />
        </>
      )}
      {editing && <ObjectivesDialog {...editing} onClose={() => setEditing(null)} />}
    </>
  );
}

const lasting = `numbers ${classes.lasting}`;

function Row({ state: s }: { state: State }) {
  const a = s.availability;
  const l = s.latency;
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link to="/instances/$instanceId" params={{ instanceId: s.instance.id } as never} {...props} />
          )}
        >
          <bdi>{s.instance.name}</bdi>
        </Anchor>
      </Table.Th>
      <Table.Td className={lasting}>{long(s.upSeconds)}</Table.Td>
      <Table.Td className={lasting}>
        {long(s.downSeconds)}
        {s.outageCount > 0 && (
          <Text size="xs" c="dimmed">
            {plural(s.outageCount, "time")}
          </Text>
        )}
      </Table.Td>
      <Table.Td className={lasting}>{long(s.unknownSeconds)}</Table.Td>
      <Table.Td className={lasting}>{long(s.maintenanceSeconds)}</Table.Td>
      <Table.Td>
        {a ? (
          <Group gap={6}>
            <Text size="sm" className="numbers" style={{ whiteSpace: "nowrap" }}>
              {available(a)}
            </Text>
            <Verdict of={a.verdict} />
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            no objective
          </Text>
        )}
        <Shares state={s} />
      </Table.Td>
      <Table.Td className="numbers">{a ? `${long(a.usedSeconds)} of ${long(a.budgetSeconds)}` : "–"}</Table.Td>
      <Table.Td>
        {l ? (
          <>
            <Text size="sm" className="numbers">
              {l.meanMs === null ? "not measured" : `${l.meanMs} ms`}, up to {l.objectiveMs} ms
            </Text>
            <Group gap={6}>
              <Verdict of={l.verdict} />
              <Text size="xs" c="dimmed" className="numbers">
                {l.coveragePercent} % of hours
              </Text>
            </Group>
          </>
        ) : (
          "–"
        )}
      </Table.Td>
    </Table.Tr>
  );
}

const Verdict = ({ of }: { of: string }) => (
  <Badge variant="light" radius="sm" color={colors[of] ?? "gray"} autoContrast miw="max-content">
    {verdicts[of] ?? of}
  </Badge>
);

/** Shares draws up, down and unknown; columns of the same row have them in words. */
function Shares({ state: s }: { state: State }) {
  const all = s.upSeconds + s.downSeconds + s.unknownSeconds;
  if (all === 0) return null;
  const width = (part: number) => ({ width: `${(100 * part) / all}%` });
  return (
    <div className={classes.bar} aria-hidden>
      <div className={classes.up} style={width(s.upSeconds)} />
      {s.downSeconds > 0 && <div className={classes.down} style={width(s.downSeconds)} />}
      <div className={classes.unknown} style={width(s.unknownSeconds)} />
    </div>
  );
}
