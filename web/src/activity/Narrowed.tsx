import { Button } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import classes from "./activity.module.css";
import { dimensionNames, type Narrowing, narrowing, type Only, stateName } from "./query";

type Props = { only: Only; onRemove: (by: Narrowing, value: string) => void };

/** Narrowed is what the page is narrowed to, beside servers: each a chip that takes itself away. */
export function Narrowed({ only, onRemove }: Props) {
  const all = narrowing.flatMap((by) => (only[by] ?? []).map((value: string) => ({ by, value })));
  if (all.length === 0) return null;
  return (
    <ul className={classes.only} aria-label="Only these sessions">
      {all.map(({ by, value }) => {
        const shown = by === "state" ? stateName(value) : value;
        const { one } = dimensionNames[by];
        return (
          <li key={`${by} ${value}`}>
            <Button
              size="compact-sm"
              radius="xl"
              variant="light"
              rightSection={<IconX size={14} aria-hidden />}
              aria-label={`Remove the filter: ${one} ${shown}`}
              onClick={() => onRemove(by, value)}
            >
              <span>
                {one}: <bdi>{shown}</bdi>
              </span>
            </Button>
          </li>
        );
      })}
    </ul>
  );
}
