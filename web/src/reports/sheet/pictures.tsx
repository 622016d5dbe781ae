// The pictures of a summary, in plain SVG.
import { Box, Flex, Group, Text } from "@mantine/core";
import { useId } from "react";
import { type Bars, type Burn, type Span, toneColor } from "./model";

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

/** BurnPicture draws what was left of budgets at the end of each day, hatched where that is not known. */
export function BurnPicture({ burn }: { burn: Burn }) {
  const hatch = useId();
  const width = 100 / Math.max(burn.days.length, 1);
  return (
    <Box component="section" aria-label={burn.name}>
      <Text fw={600} size="sm" mb={4}>
        {burn.name}
      </Text>
      <svg width={0} height={0} aria-hidden style={{ position: "absolute" }}>
        <pattern id={hatch} width={4} height={4} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line x1={0} x2={0} y1={0} y2={4} stroke="#7c878f" strokeWidth={2} />
        </pattern>
      </svg>
      {burn.rows.map((row) => (
        <Flex key={row.of} columnGap="md" wrap={{ base: "wrap", sm: "nowrap" }} justify="space-between" py={4}>
          <Text size="sm" w={170} truncate style={{ flexShrink: 0 }}>
            {row.of}
          </Text>
          <Text size="sm" w={90} ta="right" fw={600} c={toneColor(row.tone)} style={{ flexShrink: 0 }}>
            {row.text}
          </Text>
          <svg width="100%" height={24} role="img" aria-label={`${row.of}: ${row.text} left`} style={{ minWidth: 0 }}>
            {row.days.map((day, i) => (
              <g key={burn.days[i]}>
                <rect
                  x={`${(i + 0.1) * width}%`}
                  width={`${0.8 * width}%`}
                  y={`${100 - day.least}%`}
                  height={`${day.least}%`}
                  fill="#6fa98c"
                />
                <rect
                  x={`${(i + 0.1) * width}%`}
                  width={`${0.8 * width}%`}
                  y={`${100 - day.left}%`}
                  height={`${day.left - day.least}%`}
                  fill={`url(#${hatch})`}
                />
              </g>
            ))}
            <line x1={0} x2="100%" y1={23.5} y2={23.5} stroke="#7c878f" />
          </svg>
        </Flex>
      ))}
      <Text size="xs" c="dimmed">
        {burn.days[0]} – {burn.days.at(-1)}. {burn.note}
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
