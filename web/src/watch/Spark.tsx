import { Group, Text } from "@mantine/core";
import type { Schemas } from "../api/client";
import { palette } from "../chart/palette";
import { plural } from "../ui/format";

type Item = Schemas["WatchRulePreviewItem"];

const width = 640;
const height = 56;

/** Spark draws the figures of a server by the hour, its threshold, and when an alert would have been raised. */
export function Spark({ item, from, to }: { item: Item; from: string; to: string }) {
  const start = Date.parse(from);
  const span = Date.parse(to) - start;
  const values = item.figures.map(({ value }) => value);
  const top = Math.max(item.threshold * 1.1, ...values) || 1;
  const x = (at: string) => ((Date.parse(at) - start) / span) * width;
  const y = (value: number) => 6 + (1 - Math.min(value / top, 1)) * (height - 10);
  const hour = 3_600_000;
  let before = 0;
  const path = item.figures
    .map(({ at, value }) => {
      const time = Date.parse(at);
      const begins = time - before > 2 * hour; // a gap
      before = time;
      return `${begins ? "M" : "L"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join("");
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      width="100%"
      height={height}
      role="img"
      aria-label={`${plural(item.alerts, "alert")} of ${item.instanceName}`}
    >
      <path d={path} fill="none" stroke={palette.cpu} strokeWidth={1.5} vectorEffect="non-scaling-stroke" />
      <line
        x1={0}
        x2={width}
        y1={y(item.threshold)}
        y2={y(item.threshold)}
        stroke={palette.active}
        strokeDasharray="4 3"
        vectorEffect="non-scaling-stroke"
      />
      {item.raised.map(({ at, currentToo, inMaintenance }) => (
        <Mark key={at} x={x(at)} currentToo={currentToo} inMaintenance={inMaintenance} />
      ))}
    </svg>
  );
}

/** Mark is when an alert would have been raised: wide if the saved settings do not raise it, gray in a maintenance window. */
function Mark({ x, currentToo, inMaintenance }: { x: number; currentToo: boolean; inMaintenance: boolean }) {
  return (
    <line
      x1={x}
      x2={x}
      y1={0}
      y2={8}
      stroke={inMaintenance ? "var(--mantine-color-dimmed)" : palette.active}
      strokeWidth={currentToo ? 1.5 : 5}
      vectorEffect="non-scaling-stroke"
    />
  );
}

/** Legend says what the marks of the sparks are. */
export function Legend({ changed, maintenance }: { changed: boolean; maintenance: boolean }) {
  const marks = [
    { label: changed ? "with the saved settings, too" : "raised", currentToo: true, inMaintenance: false, shown: true },
    { label: "with this change only", currentToo: false, inMaintenance: false, shown: changed },
    { label: "in a maintenance window", currentToo: true, inMaintenance: true, shown: maintenance },
  ];
  return (
    <Group gap="md" mt="xs">
      {marks
        .filter(({ shown }) => shown)
        .map(({ label, ...mark }) => (
          <Group key={label} gap={6} wrap="nowrap">
            <svg width={8} height={10} aria-hidden>
              <Mark x={4} {...mark} />
            </svg>
            <Text size="xs" c="dimmed">
              {label}
            </Text>
          </Group>
        ))}
    </Group>
  );
}
