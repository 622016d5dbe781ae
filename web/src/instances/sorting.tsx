import { Group, Table, UnstyledButton } from "@mantine/core";
import { IconArrowsSort, IconSortAscending, IconSortDescending } from "@tabler/icons-react";
import type { instanceSorts } from "../url/schemas";

export type By = (typeof instanceSorts)[number];
export type Sort = By | `-${By}`;

/** The troubled ones first: the lowest score, whoever was seen longest ago, the most of everything else. */
const first: Record<By, Sort> = {
  name: "name",
  alerts: "-alerts",
  score: "score",
  cpu: "-cpu",
  disk: "-disk",
  connections: "-connections",
  lastSeenAt: "lastSeenAt",
};

const other = (sort: Sort): Sort => (sort.startsWith("-") ? (sort.slice(1) as By) : (`-${sort}` as Sort));

/** turned is the order after a click on a column: the troubled ones first, then the other way round. */
export const turned = (sort: Sort, by: By): Sort => (sort === first[by] ? other(sort) : first[by]);

export const directionOf = (sort: Sort, by: By) =>
  sort === by ? "ascending" : sort === `-${by}` ? "descending" : "none";

const arrows = { ascending: IconSortAscending, descending: IconSortDescending, none: IconArrowsSort };

/** SortHead is the head of a column that the list is sorted by at a click. */
export function SortHead({
  name,
  by,
  sort,
  right = false,
  onSort,
}: {
  name: string;
  by: By;
  sort: Sort;
  right?: boolean;
  onSort: (sort: Sort) => void;
}) {
  const direction = directionOf(sort, by);
  const Arrow = arrows[direction];
  return (
    <Table.Th scope="col" aria-sort={direction} ta={right ? "right" : undefined}>
      <UnstyledButton
        onClick={() => onSort(turned(sort, by))}
        fz="sm"
        fw={700}
        mih={24}
        style={{ whiteSpace: "nowrap" }}
      >
        <Group gap={4} wrap="nowrap">
          {name}
          <Arrow size={14} aria-hidden opacity={direction === "none" ? 0.6 : 1} />
        </Group>
      </UnstyledButton>
    </Table.Th>
  );
}
