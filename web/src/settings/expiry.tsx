import { Select, type SelectProps } from "@mantine/core";
import { serverNow } from "../api/clock";

const day = 86_400_000;

const choices = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "180", label: "180 days" },
  { value: "365", label: "1 year" },
];

/** defaultExpiry is the API's own, in days. */
export const defaultExpiry = "90";

/**
 * expiryAfter is the instant so many days from now, for the API. The server's clock is known to a second, which must not
 * turn a year into more than a year, so a minute is left off.
 */
export const expiryAfter = (days: string, now = serverNow().getTime()) =>
  new Date(now + Number(days) * day - 60_000).toISOString();

/** ExpiryChoice asks for how long a token works. */
export function ExpiryChoice(props: SelectProps) {
  return (
    <Select
      label="Valid for"
      description="After that it is rejected, and you need a new one."
      data={choices}
      allowDeselect={false}
      {...props}
    />
  );
}
