import { Skeleton } from "@mantine/core";
import { type ComponentProps, lazy, type ReactNode, Suspense, useEffect, useId, useMemo, useState } from "react";
import type { Schemas } from "../api/client";
import { toCSV } from "../chart/csv";
import { noteNone, useAfterFirst } from "../chart/first";
import { type ChartSeries, type Picked, TimeSeriesChart } from "../chart/TimeSeriesChart";
import { withBefore } from "../chart/types";
import { copy } from "../shell/clipboard";
import { useLater } from "../ui/later";
import { ProblemNote } from "../ui/ProblemNote";
import { part } from "../ui/part";
import { useScope } from "../window/scope";
import { distanceBefore } from "../window/window";
import { beside } from "./before";
import classes from "./dashboard.module.css";
import { useLast } from "./last";
import { useMarks } from "./marks";
import { NoInstance, NotRead, NoValues } from "./NoValues";
import { type SeriesName, useHidden } from "./useHidden";
import { type Figure, figureOf, useWho } from "./who";

// Loaded when somebody asks for it.
const SeriesTable = lazy(() => part(() => import("../chart/SeriesTable")).then((m) => ({ default: m.SeriesTable })));

const menus = () => import("./TileMenu");

type Envelope = "from" | "to" | "bucketSize" | "bucketStarts" | "lastBucketPartial" | "generatedAt";

type Span = { from: string; to: string };

/** Answer is what every windowed endpoint sends around its series. */
export type Answer = Pick<Schemas["Utilization"], Envelope> & {
  /** An engine could not be read: what is missing of it is not zero. */
  incomplete?: boolean;
};

/** Drawing is how an answer looks: its series, and what else is particular to the tile. */
export type Drawing = Pick<
  ComponentProps<typeof TimeSeriesChart>,
  "stacked" | "format" | "upTo" | "bands" | "markers"
> & { series: (ChartSeries & { key: SeriesName })[] };

/** Asked is a query as far as a tile looks at it. */
export type Asked<A> = {
  data: A | undefined;
  error: unknown;
  isError: boolean;
  isFetching: boolean;
  refetch: () => unknown;
};

/**
 * Tile is the frame of a trend: its heading, its menu, and every state that it can be in. `about` stands while nothing
 * is known yet, `note` is what the answer adds to it; `draw` and `note` are to be the same functions at each rendering.
 */
export function Tile<A extends Answer>({
  title,
  about,
  note,
  asked,
  before,
  draw,
  whole,
  counted,
  plotHeight = 200,
  later = false,
  way,
}: {
  title: string;
  about: string;
  note?: (answer: A) => ReactNode;
  asked: Asked<A>;
  /** The window before, while it is compared with. */
  before?: Pick<Asked<A>, "data" | "isError">;
  draw: (answer: A) => Drawing;
  /** Whose contributors are shown where no series was meant. */
  whole: Figure;
  /** What of a bucket its value is of; all of it without. */
  counted?: (bucket: Span, window: Span) => Span;
  plotHeight?: number;
  /** Below what is seen first, it waits until there is a chart there. */
  later?: boolean;
  /** Leads to a page that tells more. */
  way?: ReactNode;
}) {
  const scope = useScope();
  const { hidden, toggle } = useHidden();
  const { middle, show } = useWho();
  const marks = useMarks();
  const heading = useId();
  const afterFirst = useAfterFirst();
  const waits = later && !afterFirst;
  const menu = useLater(menus, afterFirst);
  const [table, setTable] = useState(false);
  const data = useLast(asked.data, scope.servers);
  const former = useLast(scope.compares ? before?.data : undefined, scope.servers);
  const compared = scope.compares ? former : undefined;
  const distance = distanceBefore(scope.window);
  const drawing = useMemo(() => {
    if (!data || waits) return undefined;
    const drawing = draw(data);
    if (!compared) return drawing;
    const then = { buckets: compared, series: draw(compared).series };
    return { ...drawing, series: beside(drawing.series, data, then, distance) };
  }, [data, compared, distance, draw, waits]);
  const valued = drawing?.series.some((s) => s.values.some((v) => v !== null)) ?? false;
  const ready = !scope.matchesNothing && (data !== undefined || !asked.isError);

  const chartless = scope.matchesNothing || asked.isError || table || (drawing !== undefined && !valued);
  useEffect(() => {
    if (chartless) noteNone();
  }, [chartless]);

  const body = () => {
    if (scope.matchesNothing) return <NoInstance />;
    if (waits || !data || !drawing) return !asked.isError && <Skeleton className={classes.plotWaiting} />;
    if (!valued) return data.incomplete ? <NotRead /> : <NoValues />;
    const shown = {
      ...drawing,
      title,
      group: "dashboard",
      window: asked.data ? scope.window : { from: data.from, to: data.to },
      bucketSize: data.bucketSize,
      bucketStarts: data.bucketStarts,
      lastBucketPartial: data.lastBucketPartial,
      generatedAt: data.generatedAt,
      onZoom: scope.setCustom,
      onPick: ({ series, ...bucket }: Picked) => {
        const figure = series === null ? whole : figureOf[series as SeriesName];
        show({ figure, ...(counted ? counted(bucket, data) : bucket) });
      },
      pickedAt: middle,
      marks,
      height: plotHeight,
      hidden,
      onToggle: toggle,
    };
    if (!table) return <TimeSeriesChart {...shown} />;
    return (
      <Suspense fallback={<Skeleton className={classes.plotWaiting} />}>
        <SeriesTable {...shown} />
      </Suspense>
    );
  };

  return (
    <section
      className={classes.tile}
      aria-labelledby={heading}
      aria-busy={ready && (asked.isFetching || waits || !data)}
    >
      {asked.isFetching && data && <div className={classes.progress} data-progress aria-hidden />}
      <div className={classes.head}>
        <div className={classes.heading}>
          <h2 className={classes.title} id={heading}>
            {title}
          </h2>
          <p className={classes.about}>
            {about}
            {ready && data?.incomplete && (
              <strong role="status"> · Incomplete: a database engine could not be read</strong>
            )}
            {ready && data && note && <> · {note(data)}</>}
            {scope.compares && before?.isError && " · the window before could not be loaded"}
          </p>
        </div>
        {way}
        <div className={classes.menus}>
          {menu && (
            <menu.TileMenu
              title={title}
              table={table}
              onTable={setTable}
              marks={!hidden.has("alertMarks")}
              onMarks={() => toggle("alertMarks")}
              onCopy={
                ready && data && drawing && valued
                  ? () =>
                      copy(
                        toCSV({ bucketStarts: data.bucketStarts, series: withBefore(drawing.series) }),
                        `${title} copied to the clipboard as CSV.`,
                      )
                  : undefined
              }
            />
          )}
        </div>
      </div>
      <div className={classes.body}>
        {asked.isError && !scope.matchesNothing && (
          <ProblemNote
            error={asked.error}
            title={`${title} could not be loaded${data ? " again" : ""}`}
            onRetry={() => asked.refetch()}
          />
        )}
        {body()}
      </div>
    </section>
  );
}
