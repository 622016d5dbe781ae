import { Anchor, Group, Paper, Skeleton, Stack, Table } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import type { Schemas } from "../api/client";
import { OwnerCell, OwnerChip, OwnerHead, OwnerWithin } from "../teams/OwnerChip";
import { count } from "../ui/format";
import { Panel } from "../ui/Panel";
import { SelectAll, SelectRow } from "../ui/Selecting";
import { SortHead } from "../ui/SortHead";
import { Time } from "../ui/Time";
import type { Selection } from "../ui/useSelection";
import { Where } from "../ui/Where";
import type { ScopeSearch } from "../window/scope";
import { durationText, MaintenanceBadge, MutedBadge, SeverityBadge, StateBadge } from "./badges";
import { type AlertsSearch, first, type Sort } from "./query";

export type Alert = Schemas["Alert"];

type Rows = {
  alerts: Alert[];
  /** Goes along to the alert. */
  scope: ScopeSearch;
  /** The list's own address, to find back to it. */
  list: AlertsSearch;
  now: Date;
  /** Without it nothing can be selected. */
  selection?: Selection;
};

/** AlertLink is an alert's title, which leads to it with the scope; the way back to the list goes along unseen. */
function AlertLink({ alert, scope, list }: Omit<Rows, "alerts" | "now"> & { alert: Alert }) {
  return (
    <Anchor
      component={Link}
      to="/alerts/$alertId"
      params={{ alertId: alert.id } as never}
      search={scope as never}
      state={{ alerts: list } as never}
      fw={550}
      size="sm"
    >
      {alert.title}
    </Anchor>
  );
}

function Lasted({ alert, now }: { alert: Alert; now: Date }) {
  return (
    <span className="numbers" style={{ whiteSpace: "nowrap" }}>
      {durationText(alert, now)}
    </span>
  );
}

const columns: { name: string; first?: Sort; right?: boolean }[] = [
  { name: "Severity", first: first.severity },
  { name: "Alert" },
  { name: "State", first: first.state },
  { name: "First triggered", first: first.createdAt },
  { name: "Last triggered", first: first.lastTriggeredAt },
  { name: "Duration" },
  { name: "Times", right: true },
];

/** AlertTable is the list on a wide page; its columns order it. */
export function AlertTable({
  sort,
  onSort,
  busy,
  ...rows
}: Rows & { sort: Sort; onSort: (sort: Sort) => void; busy: boolean }) {
  return (
    <Panel p={0}>
      <Table.ScrollContainer
        minWidth={rows.selection ? 900 : 860}
        type="native"
        tabIndex={0}
        role="region"
        aria-label="Alerts"
      >
        <Table highlightOnHover verticalSpacing="sm" horizontalSpacing="sm" aria-busy={busy} aria-label="Alerts">
          <Table.Thead>
            <Table.Tr>
              {rows.selection && (
                <Table.Th scope="col" w={40}>
                  <SelectAll rows={rows.alerts} what="alerts" selection={rows.selection} />
                </Table.Th>
              )}
              {columns.map((column) => (
                <Fragment key={column.name}>
                  <SortHead {...column} sort={sort} onSort={onSort} />
                  {column.name === "Alert" && <OwnerHead sort={sort} onSort={onSort} />}
                </Fragment>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.alerts.map((alert) => (
              <Row key={alert.id} alert={alert} {...rows} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Panel>
  );
}

function Row({ alert, scope, list, now, selection }: Omit<Rows, "alerts"> & { alert: Alert }) {
  return (
    <Table.Tr data-alert={alert.id}>
      {selection && (
        <Table.Td>
          <SelectRow row={alert} name={alert.title} selection={selection} />
        </Table.Td>
      )}
      <Table.Td>
        <SeverityBadge severity={alert.severity} />
      </Table.Td>
      <Table.Td miw={240}>
        <AlertLink alert={alert} scope={scope} list={list} />
        <div>
          <Where {...alert} />
        </div>
        <OwnerWithin owner={alert.owner} />
      </Table.Td>
      <OwnerCell owner={alert.owner} />
      <Table.Td>
        <Stack gap={4} align="flex-start">
          <StateBadge state={alert.state} />
          {alert.isMuted && <MutedBadge until={alert.mutedUntil} />}
          {alert.maintenance && <MaintenanceBadge window={alert.maintenance} />}
        </Stack>
      </Table.Td>
      <Table.Td>
        <Time at={alert.firstTriggeredAt} />
      </Table.Td>
      <Table.Td>
        <Time at={alert.lastTriggeredAt} />
      </Table.Td>
      <Table.Td>
        <Lasted alert={alert} now={now} />
      </Table.Td>
      <Table.Td ta="right" className="numbers">
        {count(alert.occurrences)}
      </Table.Td>
    </Table.Tr>
  );
}

/** AlertCards is the list on a phone: one card an alert. */
export function AlertCards({ alerts, scope, list, now, busy, selection }: Rows & { busy: boolean }) {
  return (
    <Stack component="ul" gap="xs" m={0} p={0} aria-label="Alerts" aria-busy={busy}>
      {alerts.map((alert) => (
        <Paper component="li" withBorder key={alert.id} p="sm" style={{ listStyle: "none" }} data-alert={alert.id}>
          <Group gap={4} mb={6}>
            {selection && (
              <div style={{ marginInlineEnd: 4 }}>
                <SelectRow row={alert} name={alert.title} selection={selection} />
              </div>
            )}
            <SeverityBadge severity={alert.severity} />
            <StateBadge state={alert.state} />
            {alert.isMuted && <MutedBadge until={alert.mutedUntil} />}
            {alert.maintenance && <MaintenanceBadge window={alert.maintenance} />}
          </Group>
          <AlertLink alert={alert} scope={scope} list={list} />
          <Group gap="xs" justify="space-between">
            <Where {...alert} />
            <OwnerChip owner={alert.owner} />
          </Group>
          <Group gap="xs" mt={6} fz="sm" justify="space-between">
            <span>
              Last <Time at={alert.lastTriggeredAt} />
            </span>
            <Lasted alert={alert} now={now} />
          </Group>
        </Paper>
      ))}
    </Stack>
  );
}

/** AlertsLoading keeps the place of the list until it is there for the first time. */
export function AlertsLoading({ rows, narrow }: { rows: number; narrow: boolean }) {
  return (
    <Panel p="sm">
      <Stack gap="sm" role="status" aria-label="Loading alerts">
        {Array.from({ length: rows + 1 }, (_, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows without anything in them have nothing else
          <Skeleton key={n} height={narrow ? 104 : 32} />
        ))}
      </Stack>
    </Panel>
  );
}
