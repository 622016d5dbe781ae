import { Box, Group, SimpleGrid, Stack, Table, Text, Title } from "@mantine/core";
import { type Cell, type Sheet, type SheetPart, type SheetTable, toneColor } from "./model";
import { BarsPicture, BurnPicture, SpansPicture } from "./pictures";

/** SheetView is a summary on the page: the words, figures and tables of its PDF. */
export function SheetView({ sheet }: { sheet: Sheet }) {
  return (
    <>
      <Text size="sm" c="dimmed">
        {sheet.scopeLabel}
      </Text>
      <Text fz="lg" fw={600} mt={4} maw="60ch">
        {sheet.lead}
      </Text>
      <Text size="sm" mt={4} maw="76ch">
        {sheet.rest}
      </Text>
      {sheet.first && (
        <Text fw={600} mt="xs" maw="70ch">
          {sheet.first}
        </Text>
      )}
      <Stack gap="xl" mt="lg">
        <Figures figures={sheet.figures ?? []} />
        {sheet.bars && <BarsPicture bars={sheet.bars} />}
        {sheet.burn && <BurnPicture burn={sheet.burn} />}
        {(sheet.sections ?? []).map((section) => (
          <Box component="section" key={section.id} aria-labelledby={`sheet-${section.id}`}>
            <Title order={2} mb="sm" id={`sheet-${section.id}`}>
              {section.title}
            </Title>
            <Stack gap="md">
              {(section.parts ?? []).map((part, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a section never move
                <Part key={i} part={part} />
              ))}
            </Stack>
          </Box>
        ))}
      </Stack>
    </>
  );
}

function Figures({ figures }: { figures: NonNullable<Sheet["figures"]> }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, md: Math.max(figures.length, 1) }} spacing="lg" m={0}>
      {figures.map((figure) => (
        <Box key={figure.name}>
          <Text component="dt" size="sm" c="dimmed">
            {figure.name}
          </Text>
          <Text component="dd" m={0} fz={{ base: 22, sm: 28 }} fw={650} lh={1.2} className="numbers">
            {figure.before && `${figure.before} `}
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

function Part({ part }: { part: SheetPart }) {
  return (
    <Box>
      {part.title && (
        <Group justify="space-between" mb={4}>
          <Title order={3}>{part.title}</Title>
          {part.aside && (
            <Text size="sm" c="dimmed">
              {part.aside}
            </Text>
          )}
        </Group>
      )}
      {part.words && (
        <Text size="sm" maw="76ch">
          {part.words}
        </Text>
      )}
      {part.table && <Rows table={part.table} />}
      {part.spans && <SpansPicture name={part.spans.name} rows={part.spans.rows ?? []} />}
      {part.note && (
        <Text size="xs" c="dimmed" mt={4}>
          {part.note}
        </Text>
      )}
    </Box>
  );
}

function Rows({ table }: { table: SheetTable }) {
  const align = (i: number) => (table.columns[i]?.right ? "right" : "left");
  return (
    <Table.ScrollContainer minWidth={90 * table.columns.length} type="native">
      <Table aria-label={table.name} verticalSpacing={5}>
        <Table.Thead>
          <Table.Tr>
            {table.columns.map((column, i) => (
              <Table.Th key={column.name} ta={align(i)}>
                {column.name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {(table.rows ?? []).map((row, r) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two rows may be alike, and none moves
            <Table.Tr key={r}>
              {row.cells.map((cell, i) => (
                <Table.Td
                  key={table.columns[i]?.name}
                  ta={align(i)}
                  className={table.columns[i]?.right ? "numbers" : undefined}
                >
                  <Words cell={cell} strong={row.total} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Words({ cell, strong }: { cell: Cell; strong: boolean | undefined }) {
  return (
    <>
      <Text span size="sm" fw={cell.strong || strong ? 650 : undefined} c={toneColor(cell.tone)}>
        {cell.text}
      </Text>
      {cell.note && (
        <Text span size="xs" c="dimmed" display="block">
          {cell.note}
        </Text>
      )}
    </>
  );
}
