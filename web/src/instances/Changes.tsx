import { Anchor, Badge, Group, Text, Title } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { type CheckedEngine, entry } from "../engines";
import { EmptyState } from "../ui/EmptyState";
import { count } from "../ui/format";
import { NotAvailable } from "../ui/NotAvailable";
import { Panel } from "../ui/Panel";
import { Time } from "../ui/Time";
import classes from "./face.module.css";
import { useHealth } from "./Health";
import type { Instance } from "./standing";

type Change = Schemas["InstanceChange"];

const kinds: Record<string, string> = {
  setting: "Setting",
  role: "Role",
  grant: "Grant",
  hba: "pg_hba.conf",
  version: "Version",
  extension: "Extension",
  replication: "Failover",
  start: "Restart",
};

const compared: Record<CheckedEngine, string> = {
  postgresql: "Settings, roles, grants, pg_hba.conf, version, extensions, role in replication and start",
  sqlserver: "Options, logins, server roles, permissions, version and start",
  oracle: "Parameters, profiles, audit policies, accounts, privileges, version, role in replication and start",
};

const shown = 8;

/** Changes is what differed between assessments; the first few until somebody asks for all. */
export function Changes({ instance: i }: { instance: Instance }) {
  const { data } = useHealth(i);
  const [all, setAll] = useState(false);
  if (!data) return null; // Score says why
  const changes = data.changes ?? [];
  const listed = all ? changes : changes.slice(0, shown);
  return (
    <Panel>
      <Group justify="space-between" mb="sm">
        <Title order={2}>Recent changes</Title>
        {changes.length > shown && !all && (
          <Anchor component="button" type="button" size="sm" onClick={() => setAll(true)}>
            Show all {count(changes.length)}
          </Anchor>
        )}
      </Group>
      <NotAvailable missing={data.unavailable} />
      {data.changes?.length === 0 && (
        <EmptyState title="No changes seen">
          {data.assessedAt !== null
            ? `${entry(compared, i.engine) ?? "Settings, accounts, grants and version"} are compared at each assessment.`
            : "Muster compares what it finds from the second assessment on."}
        </EmptyState>
      )}
      {listed.map((c, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a change has no id, and the list is read whole
        <div key={n} className={classes.change} data-change={c.kind}>
          <Group gap={6} justify="space-between" wrap="nowrap" align="flex-start">
            <Text size="sm" ff="monospace" fw={600} style={{ overflowWrap: "anywhere" }}>
              {c.name ?? "no longer kept"}
            </Text>
            <Text size="xs" c="dimmed" component="div">
              <Time at={c.at} relative />
            </Text>
          </Group>
          <Group gap={6}>
            <Badge variant="outline" color="gray" size="sm" radius="sm" tt="none">
              {kinds[c.kind] ?? c.kind}
            </Badge>
            <Value of={c.before} absent={c.added ? "not there" : unsaid(c)} />
            {(c.before !== null || c.after !== null || c.added || c.removed) && (
              <>
                <IconArrowRight size={14} aria-hidden />
                <span className="visually-hidden">then</span>
                <Value of={c.after} absent={c.removed ? "removed" : unsaid(c)} now />
              </>
            )}
          </Group>
        </div>
      ))}
    </Panel>
  );
}

const unsaid = (c: Change) => (c.name === null ? "no longer kept" : "not shown, may hold a secret");

/** Value is what something was, struck out, or is now, tinted. */
function Value({ of, absent, now = false }: { of: string | null; absent: string; now?: boolean }) {
  if (of === null) {
    return (
      <Text size="sm" c="dimmed" span>
        {absent}
      </Text>
    );
  }
  return (
    <Text
      size="sm"
      ff="monospace"
      component={now ? "ins" : "del"}
      className={now ? classes.now : classes.was}
      lineClamp={3}
      title={of}
    >
      {of === "" ? "(empty)" : of}
    </Text>
  );
}
