import { NativeSelect, Skeleton, Switch, Title } from "@mantine/core";
import { lazy, Suspense, useEffect, useId, useMemo, useState } from "react";
import { useSession } from "../api/session";
import { toCSV } from "../chart/csv";
import { useAfterFirst } from "../chart/first";
import { TimeSeriesChart } from "../chart/TimeSeriesChart";
import type { Marks } from "../chart/types";
import { useReporting } from "../dashboard/fleet";
import { sessions } from "../dashboard/units";
import { copy } from "../shell/clipboard";
import { plural } from "../ui/format";
import { useLater } from "../ui/later";
import { part } from "../ui/part";
import { useScope } from "../window/scope";
import classes from "./activity.module.css";
import { type Answer, coreLine, coresText, coversHosts, type Dimension, dimensionNames, seriesOf } from "./query";

const SeriesTable = lazy(() => part(() => import("../chart/SeriesTable")).then((m) => ({ default: m.SeriesTable })));
const alertMarks = () => import("../dashboard/AlertMarks");
const menus = () => import("../dashboard/TileMenu");

const titleOf = (idle: boolean) => (idle ? "Average sessions" : "Average active sessions");

/** Choices are what the chart's stack is of, and whether idle sessions are in it. */
export function Choices({
  by,
  choices,
  idle,
  onBy,
  onIdle,
}: {
  by: Dimension;
  choices: Dimension[];
  idle: boolean;
  onBy: (by: Dimension) => void;
  onIdle: (idle: boolean) => void;
}) {
  const select = useId();
  return (
    <div className={classes.choices}>
      <Title order={2}>{titleOf(idle)}</Title>
      <div className={classes.by}>
        <label htmlFor={select}>by</label>
        <NativeSelect
          id={select}
          size="xs"
          value={by}
          data={choices.map((value) => ({ value, label: dimensionNames[value].one }))}
          onChange={(event) => onBy(event.currentTarget.value as Dimension)}
        />
      </div>
      <Switch
        size="sm"
        className={classes.idle}
        label="With idle sessions"
        checked={idle}
        onChange={(event) => onIdle(event.currentTarget.checked)}
      />
    </div>
  );
}

type Props = {
  answer: Answer;
  /** The window that is drawn; another one's answer may still be there. */
  asking: { from: string; to: string };
  picked: { from: string; to: string } | null;
  idle: boolean;
  /** Whether the cores are those of all hosts in scope. */
  covered: boolean;
  onPick: (from: string, to: string) => void;
  onZoom: (from: string, to: string) => void;
};

/** ActivityChart is the stack over time, against the cores of the hosts where these are known. */
export function ActivityChart({ answer, asking, picked, idle, covered, onPick, onZoom }: Props) {
  const title = titleOf(idle);
  const { can } = useSession();
  const afterFirst = useAfterFirst();
  const [marks, tell] = useState<Marks | null>(null);
  const [showsMarks, showMarks] = useState(true);
  const [table, setTable] = useState(false);
  // What is left out is of one dimension: the next has other series.
  const [out, leaveOut] = useState<{ by: Dimension; keys: readonly string[] }>({ by: answer.by, keys: [] });
  const hidden = useMemo(() => new Set(out.by === answer.by ? out.keys : []), [out, answer.by]);
  const alerts = useLater(alertMarks, afterFirst && showsMarks && can("alerts:read"));
  const menu = useLater(menus, afterFirst);
  const series = useMemo(() => seriesOf(answer), [answer]);
  const line = coreLine(answer, covered);
  const shown = {
    title,
    group: "activity",
    window: asking,
    bucketSize: answer.bucketSize,
    bucketStarts: answer.bucketStarts,
    lastBucketPartial: answer.lastBucketPartial,
    generatedAt: answer.generatedAt,
    series,
    stacked: true,
    format: sessions,
    level: line === null ? null : { value: line, label: plural(line, "core") },
    height: 270,
    hidden,
    onToggle: (key: string) => {
      const keys = [...hidden];
      leaveOut({ by: answer.by, keys: hidden.has(key) ? keys.filter((k) => k !== key) : [...keys, key] });
    },
    onZoom,
    onPick: ({ from, to }: { from: string; to: string }) => onPick(from, to),
    pickedAt: picked && (Date.parse(picked.from) + Date.parse(picked.to)) / 2,
    marks: showsMarks ? marks : null,
  };
  return (
    <div className={classes.chart}>
      {menu && (
        <div className={classes.menu}>
          <menu.TileMenu
            title={title}
            table={table}
            onTable={setTable}
            marks={showsMarks}
            onMarks={() => showMarks(!showsMarks)}
            onCopy={() =>
              copy(
                toCSV({ bucketStarts: answer.bucketStarts, series }),
                `${title} by ${dimensionNames[answer.by].one} copied to the clipboard as CSV.`,
              )
            }
          />
        </div>
      )}
      {table ? (
        <Suspense fallback={<Skeleton height={300} />}>
          <SeriesTable {...shown} />
        </Suspense>
      ) : (
        <TimeSeriesChart {...shown} />
      )}
      {answer.cores !== null && (
        <p className={classes.note} data-cores>
          {coresText(answer.cores, answer.coreHosts, covered)}
        </p>
      )}
      {showsMarks && alerts && <alerts.AlertMarks tell={tell} />}
    </div>
  );
}

/** Hosts tells whether the cores are those of every host in scope. */
export function Hosts({ counted, tell }: { counted: number; tell: (covered: boolean) => void }) {
  const { servers } = useScope();
  const { instances } = useReporting(servers);
  const covered = instances !== undefined && coversHosts(counted, instances);
  useEffect(() => tell(covered), [covered, tell]);
  return null;
}
