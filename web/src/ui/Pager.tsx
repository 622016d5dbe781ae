import { Button, Group, NativeSelect, Pagination, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { EmptyState } from "./EmptyState";
import { count, plural } from "./format";

/** usualSize is how many entries a page has that was not asked for more, and sizes are those to choose from. */
export const usualSize = 20;
const sizes = [usualSize, 50, 100, 200];

/**
 * Pager says which of how many are shown, turns pages, and with onSize has the reader choose how long they are, up to
 * `most` entries.
 */
export function Pager({
  page,
  onTurn,
  onSize,
  most = 200,
  what,
}: {
  page: Schemas["Page"];
  onTurn: (page: number) => void;
  onSize?: (size: number) => void;
  most?: number;
  what: string;
}) {
  const first = (page.number - 1) * page.size + 1;
  const last = Math.min(page.number * page.size, page.totalItems);
  const things = plural(page.totalItems, what.slice(0, -1));
  return (
    <Group justify="space-between" mt="md" gap="xs">
      <Text size="sm" c="dimmed" className="numbers">
        {last < first
          ? `None of ${things}`
          : first === last && page.totalItems === 1
            ? things
            : `${count(first)}–${count(last)} of ${things}`}
      </Text>
      {onSize && page.totalItems > usualSize && (
        <NativeSelect
          size="xs"
          aria-label="Rows on a page"
          value={page.size}
          onChange={(e) => onSize(Number(e.currentTarget.value))}
          data={[...new Set([...sizes, page.size])]
            .filter((size) => size <= most)
            .sort((a, b) => a - b)
            .map((size) => ({ value: String(size), label: `${count(size)} rows` }))}
          style={{ marginInlineStart: "auto" }}
        />
      )}
      {page.totalPages > 1 && (
        <Pagination
          size="sm"
          total={page.totalPages}
          value={page.number}
          onChange={onTurn}
          getControlProps={(control) => ({
            "aria-label": { first: "First page", previous: "Previous page", next: "Next page", last: "Last page" }[
              control
            ],
          })}
          getItemProps={(n) => ({ "aria-label": `Page ${n}` })}
        />
      )}
    </Group>
  );
}

/** pageOf is a page of a list that is here as a whole. */
export function pageOf<T>(all: T[], number: number, size: number): { items: T[]; page: Schemas["Page"] } {
  return {
    items: all.slice((number - 1) * size, number * size),
    page: { number, size, totalItems: all.length, totalPages: Math.ceil(all.length / size) },
  };
}

/** NoSuchPage says that a list is shorter than the page asked for. */
export function NoSuchPage({
  icon,
  total,
  what,
  toFirst,
}: {
  icon: ReactNode;
  total: number;
  what: string;
  toFirst: () => void;
}) {
  return (
    <EmptyState
      icon={icon}
      title="There is no such page"
      action={
        <Button size="xs" variant="default" mt="xs" onClick={toFirst}>
          Go to the first page
        </Button>
      }
    >
      There {total === 1 ? "is" : "are"} {plural(total, what.slice(0, -1))} in all.
    </EmptyState>
  );
}
