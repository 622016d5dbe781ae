import { Group, Table, Text, UnstyledButton } from "@mantine/core";
import { IconArrowsSort, IconSortAscending, IconSortDescending } from "@tabler/icons-react";
import { columnOf, directionOf, turned } from "./sorting";

const arrows = { ascending: IconSortAscending, descending: IconSortDescending, none: IconArrowsSort };

/** SortHead is the head of a column by which a list is ordered at a click; without an order to begin with, only its name. */
export function SortHead<Sort extends string>({
  name,
  first,
  sort,
  right = false,
  note,
  className,
  crowded,
  onSort,
}: {
  name: string;
  /** The order of the first click. */
  first?: Sort;
  sort: Sort;
  right?: boolean;
  /** What the figures are of, below the name. */
  note?: string;
  /** Of a column that is there on a wide screen, which is wider where the table is crowded. */
  className?: string | undefined;
  crowded?: boolean | undefined;
  onSort: (sort: Sort) => void;
}) {
  if (first === undefined) {
    return (
      <Table.Th scope="col" ta={right ? "right" : undefined}>
        {name}
        {note && <Note right={right}>{note}</Note>}
      </Table.Th>
    );
  }
  const direction = directionOf(sort, columnOf(first));
  const Arrow = arrows[direction];
  return (
    <Table.Th
      scope="col"
      aria-sort={direction}
      ta={right ? "right" : undefined}
      className={className}
      data-crowded={crowded || undefined}
    >
      <UnstyledButton
        onClick={() => onSort(turned(sort, first))}
        fz="inherit"
        fw="inherit"
        mih={24}
        style={{ whiteSpace: "nowrap" }}
      >
        <Group gap={4} wrap="nowrap" component="span" justify={right ? "flex-end" : undefined}>
          {name}
          <Arrow size={14} aria-hidden opacity={direction === "none" ? 0.6 : 1} />
        </Group>
        {note && <Note right={right}>{note}</Note>}
      </UnstyledButton>
    </Table.Th>
  );
}

function Note({ right, children }: { right: boolean; children: string }) {
  return (
    <>
      {" "}
      <Text span inherit c="dimmed" fw={400} display="block" ta={right ? "right" : undefined}>
        {children}
      </Text>
    </>
  );
}
