import { Badge, Group, type GroupProps } from "@mantine/core";
import { count } from "../ui/format";
import { type Statement, timesOf } from "./query";

/** Changed says what is other than in the window before: that a statement is new, or slower by twice and more. */
export function Changed({
  statement,
  whole = false,
  ...place
}: GroupProps & {
  statement: Statement;
  /** In whole words, where it stands alone. */
  whole?: boolean;
}) {
  const fresh = statement.new;
  const times = timesOf(statement);
  const slower = times !== null && times >= 2;
  if (!fresh && !slower) return null;
  return (
    <Group gap={6} component="span" {...place}>
      {fresh && (
        <Badge component="span" size="sm" radius="sm" variant="default">
          {whole ? "New in this window" : "New"}
        </Badge>
      )}
      {slower && (
        <Badge component="span" size="sm" radius="sm" variant="default" tt="none">
          {times < 10 ? times.toFixed(1) : count(Math.round(times))} times slower{whole && " than before"}
        </Badge>
      )}
    </Group>
  );
}
