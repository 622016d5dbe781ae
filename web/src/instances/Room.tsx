import { Code, Group, Skeleton, Table, Text, Title } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { api } from "../api/client";
import { palette } from "../chart/palette";
import { bytes, count, plural } from "../ui/format";
import { NotAvailable } from "../ui/NotAvailable";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import {
  between,
  type Capacity,
  called,
  fullIn,
  grows,
  level,
  type Maintenance,
  type Size,
  urgent,
  worst,
} from "./room";
import classes from "./room.module.css";
import type { Instance } from "./standing";

/** Room is how full a server is and when it is full, and how it is looked after. */
export default function Room({ instance: i }: { instance: Instance }) {
  const path = { instanceId: i.id };
  const capacity = api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/capacity",
    { params: { path } },
    { placeholderData: keepPreviousData },
  );
  const care = api.useQuery(
    "get",
    "/api/v1/instances/{instanceId}/maintenance",
    { params: { path } },
    { placeholderData: keepPreviousData },
  );
  return (
    <>
      <Panel miw={0} data-capacity>
        <Heading title="Capacity" at={capacity.data?.measuredAt} />
        {capacity.error && !capacity.data && <ProblemNote error={capacity.error} onRetry={capacity.refetch} />}
        {!capacity.data && !capacity.error && <Skeleton height={120} />}
        {capacity.data && <Full known={capacity.data} />}
      </Panel>
      <Panel miw={0} data-maintenance>
        <Heading title="Maintenance" at={care.data?.measuredAt} />
        {care.error && !care.data && <ProblemNote error={care.error} onRetry={care.refetch} />}
        {!care.data && !care.error && <Skeleton height={120} />}
        {care.data && <Care known={care.data} />}
      </Panel>
    </>
  );
}

function Heading({ title, at }: { title: string; at: string | null | undefined }) {
  return (
    <Group justify="space-between" mb="sm">
      <Title order={2}>{title}</Title>
      {at && (
        <Text size="sm" c="dimmed">
          looked at <Time at={at} relative />
        </Text>
      )}
    </Group>
  );
}

function Full({ known }: { known: Capacity }) {
  const { connections: open, transactionIds: ids } = known;
  const sizes = worst(known.sizes);
  if (sizes.length === 0 && !open && !ids && known.measuredAt === null && !known.unavailable?.length) {
    return (
      <Text size="sm" c="dimmed">
        Not measured yet. Volumes need an agent or exporter on the host; databases are looked at once an hour.
      </Text>
    );
  }
  const sequences = known.sequences.filter(({ usedPercent }) => usedPercent >= 50).slice(0, 5);
  return (
    <>
      <NotAvailable missing={known.unavailable} />
      <ul className={classes.list}>
        {sizes.map((s) => (
          <OneSize key={`${s.host} ${s.kind} ${s.name}`} size={s} confidence={known.confidence} />
        ))}
        {open && (
          <Row
            name="Connections"
            bold={`${count(open.used)} of ${count(open.limit)}`}
            percent={open.usedPercent}
            text={
              open.peakPercent !== null && open.peakAt !== null ? (
                <>
                  {`now ${open.usedPercent} %, at most ${open.peakPercent} % in 30 days, `}
                  <Time at={open.peakAt} />
                </>
              ) : (
                `now ${open.usedPercent} %`
              )
            }
          />
        )}
        {ids && (
          <Row
            name={`${ids.multixacts ? "Multixact" : "Transaction"} ids${ids.database ? ` of ${ids.database}` : ""}`}
            bold={`${ids.usedPercent} %`}
            percent={ids.usedPercent}
            text="of the distance to wraparound"
          />
        )}
        {sequences.map((q) => (
          <Row
            key={`${q.database} ${q.name}`}
            name={`Sequence ${[q.database, q.name].filter(Boolean).join(" ")}`}
            bold={`${q.usedPercent} %`}
            percent={q.usedPercent}
            text={`of ${q.type}${q.column ? `, for ${q.column}` : ""}`}
          />
        ))}
      </ul>
      {known.databases > known.lookedDatabases && (
        <Text size="sm" c="dimmed" mt="sm">
          {`Tables and sequences are known of ${count(known.lookedDatabases)} of ${plural(known.databases, "database")}. The others follow.`}
        </Text>
      )}
      {known.hiddenSequences > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          {`${plural(known.hiddenSequences, "sequence")} may not be read by Muster’s account.`}
        </Text>
      )}
      <LeftOut known={known} />
    </>
  );
}

/** LeftOut says what Muster did not look at, and why. */
function LeftOut({ known }: { known: { leftOut: string[] } }) {
  return known.leftOut.map((sentence) => (
    <Text key={sentence} size="sm" c="dimmed" mt="sm" style={{ overflowWrap: "anywhere" }}>
      <bdi>{sentence}</bdi>
    </Text>
  ));
}

function OneSize({ size: s, confidence }: { size: Size; confidence: number }) {
  const bounds = between(s, confidence);
  return (
    <Row
      name={called(s)}
      bold={fullIn(s, new Date())}
      dated={s.daysUntilFull !== null}
      urgent={urgent(s)}
      percent={s.usedPercent}
      text={[level(s), grows(s), bounds].filter((x) => x !== null && x !== "–").join(" · ")}
      spark={<Spark size={s} />}
    />
  );
}

interface RowProps {
  name: string;
  bold: string;
  dated?: boolean;
  urgent?: boolean;
  percent: number | null;
  text: React.ReactNode;
  spark?: React.ReactNode;
}

function Row({ name, bold, dated = true, urgent = false, percent, text, spark }: RowProps) {
  return (
    <li className={classes.row} data-room={name}>
      <div className={classes.name}>
        <bdi>{name}</bdi>
      </div>
      <Text
        component="div"
        size="sm"
        fw={dated ? 600 : 400}
        c={dated ? undefined : "dimmed"}
        data-urgent={urgent || undefined}
        className={classes.date}
      >
        {bold}
      </Text>
      {percent !== null && (
        <div className={classes.bar} aria-hidden>
          <div style={{ width: `${Math.min(percent, 100)}%` }} data-high={percent >= 90 || undefined} />
        </div>
      )}
      <Text component="div" size="sm" c="dimmed" className={classes.text}>
        {text}
      </Text>
      <div className={classes.spark}>{spark}</div>
    </li>
  );
}

/** Spark draws what was used, day by day. */
function Spark({ size: s }: { size: Size }) {
  if (s.history.length < 2) return null;
  const from = Date.parse(s.history[0]?.at ?? "");
  const to = Date.parse(s.history.at(-1)?.at ?? "");
  const values = s.history.map(({ used }) => used);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const line = s.history
    .map(
      ({ at, used }) =>
        `${((Date.parse(at) - from) / (to - from || 1)) * 118 + 1},${21 - ((used - low) / (high - low || 1)) * 18}`,
    )
    .join(" ");
  return (
    <svg
      viewBox="0 0 120 24"
      width={120}
      height={24}
      role="img"
      aria-label={`${plural(s.history.length, "day")} of growth`}
    >
      <polyline points={line} fill="none" stroke={palette.cpu} strokeWidth={1.5} />
    </svg>
  );
}

function Care({ known }: { known: Maintenance }) {
  const tables = known.tables.slice(0, 20);
  return (
    <>
      <NotAvailable missing={known.unavailable} />
      {known.failedJobs !== null && (
        <Text size="sm" mb="xs" fw={known.failedJobs > 0 ? 600 : 400}>
          {known.failedJobs === 0
            ? "No job failed in the last 24 hours."
            : `Jobs failed ${plural(known.failedJobs, "time")} in the last 24 hours.`}
        </Text>
      )}
      {known.missingGrants.map((grant) => (
        <Text key={grant} size="sm" mb="xs">
          Missing grant: <Code style={{ overflowWrap: "anywhere" }}>{grant}</Code>
        </Text>
      ))}
      {known.jobs.length > 0 && (
        <ul className={classes.list}>
          {known.jobs.slice(0, 10).map((j) => (
            <li key={`${j.name} ${j.at}`}>
              <Text size="sm" component="span">
                <bdi>{[j.name, j.step].filter(Boolean).join(", ")}</bdi>, <Time at={j.at} />
                {j.why && (
                  <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: "anywhere" }}>
                    <bdi>{j.why}</bdi>
                  </Text>
                )}
              </Text>
            </li>
          ))}
        </ul>
      )}
      {known.certificateEndsInDays !== null && (
        <Text
          size="sm"
          mb="xs"
        >{`The server’s certificate expires in ${plural(Math.floor(known.certificateEndsInDays), "day")}.`}</Text>
      )}
      {tables.length === 0 && (
        <Text size="sm" c="dimmed">
          {known.measuredAt === null
            ? "Not looked at yet: Muster looks once an hour."
            : "The server tells nothing about its tables."}
        </Text>
      )}
      {tables.length > 0 && <Tables tables={tables} />}
      <LeftOut known={known} />
      <Text size="sm" c="dimmed" mt="sm">
        Deadlocks, temporary files and checkpoints have charts of their own on this page.
      </Text>
    </>
  );
}

function Tables({ tables }: { tables: Maintenance["tables"] }) {
  return (
    <Table.ScrollContainer type="native" minWidth={680} tabIndex={0} role="region" aria-label="Tables">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Table</Table.Th>
            <Table.Th ta="right">Size</Table.Th>
            <Table.Th ta="right">Dead rows</Table.Th>
            <Table.Th ta="right">Bloat</Table.Th>
            <Table.Th>Last vacuum</Table.Th>
            <Table.Th>Last analyze</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tables.map((t) => (
            <Table.Tr key={`${t.database} ${t.name}`}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>
                <bdi>{t.name}</bdi>
                <Text size="xs" c="dimmed">
                  <bdi>{t.database}</bdi>
                  {t.autovacuumOff && " · autovacuum off"}
                </Text>
              </Table.Td>
              <Table.Td ta="right" className="numbers">
                {bytes(t.bytes)}
              </Table.Td>
              <Table.Td ta="right" className="numbers" fw={t.vacuumDue ? 600 : undefined}>
                {t.deadRows === null ? "–" : count(t.deadRows)}
                {t.vacuumDue && <Text size="xs">vacuum due</Text>}
              </Table.Td>
              <Table.Td
                ta="right"
                className="numbers"
                title={t.bloatMethod === "deadRowShare" ? "By the share of dead rows" : undefined}
              >
                {t.bloatBytes === null ? "–" : `≈ ${bytes(t.bloatBytes)}`}
              </Table.Td>
              <Table.Td>{newest(t.lastVacuum, t.lastAutovacuum, t.deadRows !== null)}</Table.Td>
              <Table.Td>
                {newest(t.lastAnalyze, t.lastAutoanalyze, t.changedRows !== null)}
                {!!t.changedRows && <Text size="xs" c="dimmed">{`${plural(t.changedRows, "row")} changed since`}</Text>}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** newest is the later of two times: never, if the server tells that there was none. */
function newest(by: string | null, auto: string | null, tells: boolean) {
  const at = by === null || (auto !== null && auto > by) ? auto : by;
  if (at === null) return tells ? "never" : "–";
  return <Time at={at} relative />;
}
