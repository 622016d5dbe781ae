import { Group, Skeleton, Table, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck, IconCircleDashed, IconHelpCircle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { api } from "../api/client";
import { bytes, plural, seconds } from "../ui/format";
import { Mark, type Tone } from "../ui/Mark";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Snippet } from "../ui/Snippet";
import { Time } from "../ui/Time";
import {
  conditionNames,
  type DatabaseBackups,
  type Backups as Known,
  keptDays,
  kindNames,
  objective,
  sourceNames,
  verdict,
} from "./backups";
import classes from "./backups.module.css";
import type { Instance } from "./standing";

/** Backups is until when the databases of a server can be restored, and who says so. */
export function Backups({ instance: i }: { instance: Instance }) {
  const asked = api.useQuery("get", "/api/v1/instances/{instanceId}/backups", {
    params: { path: { instanceId: i.id } },
  });
  const known = asked.data;
  return (
    <Panel miw={0} data-backups>
      <Group justify="space-between" mb="sm">
        <Title order={2}>Backups</Title>
        {known && (
          <Text size="sm" c="dimmed">
            objective {objective(known.rpoMinutes)}
            {known.measuredAt && (
              <>
                , read <Time at={known.measuredAt} relative />
              </>
            )}
          </Text>
        )}
      </Group>
      {asked.error && !known && <ProblemNote error={asked.error} onRetry={asked.refetch} />}
      {!known && !asked.error && <Skeleton height={80} />}
      {known && <Told known={known} />}
    </Panel>
  );
}

const marks: Record<Tone, ReactNode> = {
  good: <IconCircleCheck size={16} aria-hidden />,
  busy: <IconCircleDashed size={16} aria-hidden />,
  quiet: <IconHelpCircle size={16} aria-hidden />,
  warning: <IconCircleDashed size={16} aria-hidden />,
  bad: <IconAlertTriangle size={16} aria-hidden />,
};

function Told({ known }: { known: Known }) {
  const { tone, words } = verdict(known);
  return (
    <>
      {known.databases.length === 0 ? (
        <Text size="sm" c="dimmed">
          Not known: no source tells of backups of this server. A backup tool that an agent reads, or a script that
          sends its backups, is a source.
        </Text>
      ) : (
        <>
          <Text size="sm" fw={600} component="div" mb="xs">
            <Mark tone={tone} icon={marks[tone]}>
              {words}
            </Mark>
          </Text>
          <Databases known={known} />
          <Days known={known} />
        </>
      )}
      <Sources known={known} />
    </>
  );
}

function Databases({ known: { databases, omitted } }: { known: Known }) {
  return (
    <>
      <Table.ScrollContainer type="native" minWidth={560} tabIndex={0} role="region" aria-label="Backups by database">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Database</Table.Th>
              <Table.Th>Can be restored to</Table.Th>
              <Table.Th>Newest of each kind</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {databases.map((d) => (
              <Table.Tr key={d.database?.id ?? ""}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  {d.database ? <bdi>{d.database.name}</bdi> : "Whole server"}
                </Table.Td>
                <Table.Td>
                  <Standing of={d} />
                </Table.Td>
                <Table.Td>
                  {d.backups.map((b) => (
                    <Text size="sm" key={b.kind}>
                      {kindNames[b.kind]} <Time at={b.finishedAt} />
                      <Text span size="xs" c="dimmed">
                        {" "}
                        {[b.sizeBytes !== null && bytes(b.sizeBytes), b.tool ?? sourceNames[b.source]]
                          .filter(Boolean)
                          .join(" · ")}
                      </Text>
                    </Text>
                  ))}
                  {!d.hasLog && (
                    <Text size="xs" c="dimmed">
                      Its log is not backed up: it cannot be restored to a time in between.
                    </Text>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {omitted > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {plural(omitted, "more database is", "more databases are")} not listed.
        </Text>
      )}
    </>
  );
}

const states: Record<DatabaseBackups["state"], [Tone, string]> = {
  none: ["bad", "No backup"],
  late: ["bad", "Late"],
  unknown: ["quiet", "Not known"],
  kept: ["good", ""],
};

function Standing({ of: d }: { of: DatabaseBackups }) {
  const [tone, word] = states[d.state];
  const age = d.ageSeconds === null ? "" : seconds(d.ageSeconds);
  return (
    <>
      <Text size="sm" component="div">
        <Mark tone={tone} icon={marks[tone]}>
          {d.restorableTo ? <Time at={d.restorableTo} /> : word || "No backup yet"}
        </Mark>
      </Text>
      <Text size="xs" c="dimmed">
        {d.restorableTo ? `${age} ago${word && `, ${word.toLowerCase()}`}` : (d.why ?? `for at least ${age}`)}
      </Text>
    </>
  );
}

/** Days are the last 30, each with whether no backup was too old. */
function Days({ known: { history } }: { known: Known }) {
  if (!history) return null;
  const words = keptDays(history);
  return (
    <div className={classes.part}>
      <ul className={classes.days} aria-label={words}>
        {history.map((d) => {
          const age = d.greatestAgeSeconds === null ? "not known" : `${seconds(d.greatestAgeSeconds)} at most`;
          return <li key={d.day} data-kept={String(d.kept)} title={`${d.day}: ${age}`} aria-hidden />;
        })}
      </ul>
      <Text size="sm" c="dimmed">
        {words}
      </Text>
    </div>
  );
}

function Sources({ known: { sources } }: { known: Known }) {
  const troubled = sources.filter((s) => s.condition !== "works");
  if (troubled.length === 0) return null;
  return (
    <div className={classes.part} data-sources>
      {troubled.map((s) => (
        <div key={s.source}>
          <Text size="sm" component="div">
            <Mark tone={s.condition === "off" || s.condition === "unknown" ? "quiet" : "bad"} icon={marks.quiet}>
              {sourceNames[s.source]}: {conditionNames[s.condition]}
            </Mark>
          </Text>
          {s.why && (
            <Text size="xs" c="dimmed">
              {s.why}
            </Text>
          )}
          {s.missingGrant && <Snippet label="Run this as an administrator" text={s.missingGrant} wrapped />}
        </div>
      ))}
    </div>
  );
}
