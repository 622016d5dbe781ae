// The pictures of a summary, in plain SVG.
import { Box, Group, Text } from "@mantine/core";
import { type Bars, type Span, toneColor } from "./model";

const height = 60;

/** BarsPicture draws pairs of bars on one axis, the first up and the second down, and a line on the same scale. */
export function BarsPicture({ bars }: { bars: Bars }) {
  const days = bars.days ?? [];
  const most = Math.max(1, ...days.flatMap((day) => [day.up, day.down, day.level]));
  const scale = (height - 2) / most;
  const width = 600 / Math.max(days.length, 1);
  const words = days
    .map((day) => `${day.name}: ${day.up} ${bars.up}, ${day.down} ${bars.down}, ${day.level} ${bars.line}`)
    .join("; ");
  const line = days.map((day, i) => `${((i + 0.5) * width).toFixed(1)},${(height - scale * day.level).toFixed(1)}`);
  return (
    <Box>
      <svg
        viewBox={`0 0 600 ${2 * height}`}
        width="100%"
        height={140}
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
      >
        {days.map((day, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a day may be cut into two entries of one name
          <g key={i}>
            <rect
              x={(i + 0.14) * width}
              width={0.72 * width}
              y={height - scale * day.up}
              height={scale * day.up}
              fill="#d98b5f"
            />
            <rect x={(i + 0.14) * width} width={0.72 * width} y={height} height={scale * day.down} fill="#6fa98c" />
          </g>
        ))}
        <line x1={0} x2={600} y1={height} y2={height} stroke="#7c878f" vectorEffect="non-scaling-stroke" />
        <polyline
          points={line.join(" ")}
          fill="none"
          stroke="currentColor"
          strokeWidth={2}
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {days[0]?.name}
        </Text>
        <Text size="xs" c="dimmed">
          {days.at(-1)?.name}
        </Text>
      </Group>
      <Text size="xs" c="dimmed">
        Bars up: {bars.up}. Bars down: {bars.down}. Line: {bars.line}, same scale. {bars.note}
      </Text>
    </Box>
  );
}

const decades = Math.log10(100 * 86_400);
const at = (seconds: number) => 100 * Math.min(1, Math.log10(Math.max(1, seconds)) / decades);

/** SpansPicture draws durations on one logarithmic axis, from a second to 100 days. */
export function SpansPicture({ name, rows }: { name: string; rows: Span[] }) {
  return (
    <Box role="list" aria-label={name}>
      {rows.map((row) => (
        <Group key={row.name} role="listitem" gap="md" wrap="nowrap" py={4}>
          <Text size="sm" fw={650} w={76} c={toneColor(row.tone)} style={{ flexShrink: 0 }}>
            {row.name}
          </Text>
          <svg
            viewBox="0 0 100 12"
            height={16}
            preserveAspectRatio="none"
            aria-hidden
            style={{ flex: "1 1 60px", minWidth: 0 }}
          >
            <line
              x1={0}
              x2={100}
              y1={11}
              y2={11}
              stroke="#7c878f"
              strokeWidth={0.5}
              vectorEffect="non-scaling-stroke"
            />
            {row.median !== null && row.ninetieth !== null && (
              <line
                x1={at(row.median)}
                x2={at(row.ninetieth)}
                y1={5}
                y2={5}
                stroke="currentColor"
                strokeWidth={2}
                vectorEffect="non-scaling-stroke"
              />
            )}
            {row.median !== null && <rect x={at(row.median) - 0.6} width={1.2} y={1} height={8} fill="currentColor" />}
          </svg>
          <Text size="sm" w={{ base: 140, sm: 210 }} style={{ flexShrink: 0 }}>
            {row.medianText} / {row.ninetiethText}
            <Text span size="xs" c="dimmed" display="block">
              {row.note}
            </Text>
          </Text>
        </Group>
      ))}
    </Box>
  );
}
