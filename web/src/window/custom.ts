// The custom range as a form has it: two texts of datetime-local fields, in the browser's zone.

const two = (n: number) => String(n).padStart(2, "0");

/** fieldOf is an instant as a datetime-local field takes it, to the minute, in the browser's zone. */
export function fieldOf(instant: string): string {
  const at = new Date(instant);
  const date = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

export type CustomRange = { from: string; to: string };
export type CustomErrors = { from?: string; to?: string };

const earliest = new Date(2000, 0, 1);

/** readCustom is the range that two fields name, in UTC, or what is wrong with each of them. */
export function readCustom(
  from: string,
  to: string,
  now: Date,
): { range: CustomRange; errors: null } | { range: null; errors: CustomErrors } {
  const errors: CustomErrors = {};
  const [start, end] = [new Date(from), new Date(to)];
  if (Number.isNaN(start.getTime())) errors.from = "Enter a date and a time.";
  else if (start < earliest) errors.from = "Choose a start after 1999.";
  else if (start > now) errors.from = "The start is in the future.";
  if (Number.isNaN(end.getTime())) errors.to = "Enter a date and a time.";
  else if (!errors.from && end <= start) errors.to = "The end must be after the start.";
  if (errors.from || errors.to) return { range: null, errors };
  return { range: { from: start.toISOString(), to: end.toISOString() }, errors: null };
}
