// What the previews are made of: figures, a line and bars in plain SVG, a table.
import { Box, Group, SimpleGrid, Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Figure } from "./sampleData";

/** Both have a contrast of at least 3 on the light and on the dark surface. */
const strokes = { first: "var(--mantine-color-muster-6)", second: "#7c878f" };

/** Figures are the headline numbers of a report. */
export function Figures({ figures }: { figures: Figure[] }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, md: 4 }} spacing="lg" m={0}>
      {figures.map((figure) => (
        <Box key={figure.name}>
          <Text component="dt" size="sm" c="dimmed">
            {figure.name}
          </Text>
          <Text component="dd" m={0} fz={{ base: 22, sm: 28 }} fw={650} lh={1.2} className="numbers">
            {figure.value}
          </Text>
          <Text component="dd" m={0} size="sm" c="dimmed">
            {figure.note}
          </Text>
        </Box>
      ))}
    </SimpleGrid>
  );
}

/** Part is a section of the page, with its heading. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Box component="section">
      <Title order={2} mb="sm">
        {title}
      </Title>
      {children}
    </Box>
  );
}

/** Sparkline draws values from 0 upwards, the first at the left; label says in words what is to be seen. */
export function Sparkline({
  values,
  label,
  start,
  end,
  format,
}: {
  values: number[];
  label: string;
  start: string;
  end: string;
  format: (value: number) => string;
}) {
  const highest = Math.max(...values);
  const at = (value: number, i: number) =>
    `${((i / (values.length - 1)) * 600).toFixed(1)},${(100 - (value / highest) * 92).toFixed(1)}`;
  const line = values.map(at).join(" ");
  return (
    <Box>
      <Text size="xs" c="dimmed" className="numbers">
        highest {format(highest)}
      </Text>
      <svg viewBox="0 0 600 102" width="100%" height={120} preserveAspectRatio="none" role="img" aria-label={label}>
        <polygon points={`0,100 ${line} 600,100`} fill={strokes.first} opacity={0.15} />
        <polyline
          points={line}
          fill="none"
          stroke={strokes.first}
          strokeWidth={2}
          strokeLinejoin="round"
          vectorEffect="non-scaling-stroke"
        />
        <line x1={0} x2={600} y1={101} y2={101} stroke={strokes.second} vectorEffect="non-scaling-stroke" />
      </svg>
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {start}
        </Text>
        <Text size="xs" c="dimmed">
          {end}
        </Text>
      </Group>
    </Box>
  );
}

/** PairedBars draws two bars for each entry, their values written above them; label says in words what is to be seen. */
export function PairedBars({
  names,
  entries,
  label,
}: {
  names: [string, string];
  entries: { name: string; first: number; second: number }[];
  label: string;
}) {
  const highest = Math.max(...entries.flatMap((e) => [e.first, e.second]));
  return (
    <Box>
      <Group gap="md" mb="xs">
        <Key color={strokes.first} name={names[0]} />
        <Key color={strokes.second} name={names[1]} />
      </Group>
      <Group role="img" aria-label={label} gap={0} wrap="nowrap" align="flex-end">
        {entries.map((entry) => (
          <Box key={entry.name} flex="1 1 0" miw={0}>
            <Group h={150} gap={3} wrap="nowrap" align="flex-end" justify="center">
              <Bar value={entry.first} of={highest} color={strokes.first} />
              <Bar value={entry.second} of={highest} color={strokes.second} />
            </Group>
            <Text size="xs" ta="center" pt={4} style={{ borderTop: `1px solid ${strokes.second}` }}>
              {entry.name}
            </Text>
          </Box>
        ))}
      </Group>
    </Box>
  );
}

function Bar({ value, of, color }: { value: number; of: number; color: string }) {
  return (
    <Box w="32%" maw={30}>
      <Text size="xs" ta="center" mx={-4} className="numbers" style={{ whiteSpace: "nowrap" }}>
        {value}
      </Text>
      <Box h={(value / of) * 125} bg={color} style={{ borderRadius: "3px 3px 0 0" }} />
    </Box>
  );
}

function Key({ color, name }: { color: string; name: string }) {
  return (
    <Group gap={6}>
      <Box w={12} h={12} bg={color} style={{ borderRadius: 2 }} aria-hidden />
      <Text size="sm">{name}</Text>
    </Group>
  );
}

/** SampleTable is a small table; its first column names the row. */
export function SampleTable({
  label,
  columns,
  rows,
}: {
  label: string;
  columns: { name: string; right?: boolean }[];
  rows: { key: string; cells: ReactNode[] }[];
}) {
  return (
    <Table.ScrollContainer
      minWidth={520}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "region", "aria-label": label } }}
    >
      <Table aria-label={label} verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.name} scope="col" ta={column.right ? "right" : "left"}>
                {column.name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.key}>
              {columns.map((column, i) => (
                <Table.Td key={column.name} ta={column.right ? "right" : "left"} className="numbers">
                  {row.cells[i]}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
