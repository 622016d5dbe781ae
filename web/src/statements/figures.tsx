// What a statement costs, as lists write it.
import { Text } from "@mantine/core";
import { latency, percent } from "../dashboard/units";
import { count } from "../ui/format";
import classes from "./statements.module.css";

/** milliseconds is a time, or that there is none. */
export const milliseconds = (value: number | null) => (value === null ? "–" : latency(value));

/** wholeNumber is a count that may come with a fraction, which a part of a minute has. */
export const wholeNumber = (value: number) => count(Math.round(value));

/** Figure is a number over its name. */
export function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div className={classes.number}>
      <Text size="sm" fw={600} span>
        {value}
      </Text>
      <span className={classes.before}>{name}</span>
    </div>
  );
}

/** Share is how much of the time of all in the list a statement has, as a bar and in percent. */
export function Share({ share, of = "all" }: { share: number | null; of?: string }) {
  if (share === null) return null;
  return (
    <>
      <div className={classes.bar} aria-hidden>
        <span style={{ width: `${Math.max(0.5, 100 * share)}%` }} />
      </div>
      <span className={classes.before}>
        {percent(100 * share)} of {of}
      </span>
    </>
  );
}
