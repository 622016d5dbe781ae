import { Button, Group, Pagination, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { EmptyState } from "./EmptyState";
import { count, plural } from "./format";

/** Pager says which of how many are shown, and turns pages. */
export function Pager({ page, onTurn, what }: { page: Schemas["Page"]; onTurn: (page: number) => void; what: string }) {
  const first = (page.number - 1) * page.size + 1;
  const last = Math.min(page.number * page.size, page.totalItems);
  return (
    <Group justify="space-between" mt="md" gap="xs">
      <Text size="sm" c="dimmed" className="numbers">
        {last < first
          ? `None of ${count(page.totalItems)} ${what}`
          : `${count(first)}–${count(last)} of ${count(page.totalItems)} ${what}`}
      </Text>
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
