import { Instant } from "../ui/Instant";

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** Day is the day of an instant in the reader's zone, with its year. */
export function Day({ at }: { at: string }) {
  return <Instant at={at}>{day.format(new Date(at))}</Instant>;
}
