import type { Schemas } from "../api/client";
import { plural } from "../ui/format";

type Finding = Schemas["Finding"];

/** overdueWords is for how long a finding is overdue: "12 days overdue"; null where it is not. */
export const overdueWords = ({ overdueDays }: Pick<Finding, "overdueDays">) =>
  overdueDays > 0 ? `${plural(overdueDays, "day")} overdue` : null;

/** overdueLine is the dashboard's line of so many findings; null where there is nothing to say. */
export const overdueLine = (n: number | null | undefined) => (n ? `${plural(n, "finding")} overdue` : null);

const urlOf = (address: string) => (URL.canParse(address) ? new URL(address) : null);

/** ticketName is what a ticket's address is called: its last part, or its host. */
export function ticketName(address: string): string {
  const url = urlOf(address);
  if (!url) return address;
  const last = url.pathname
    .split("/")
    .filter((part) => part !== "")
    .at(-1);
  try {
    return last === undefined ? url.host : decodeURIComponent(last);
  } catch {
    return last ?? url.host;
  }
}

/** brokenTicket says what is wrong with a ticket's address; null is nothing, also where there is none. */
export function brokenTicket(address: string): string | null {
  if (address.trim() === "") return null;
  const url = urlOf(address.trim());
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) return "Begin with https:// or http://.";
  if (url.username !== "" || url.password !== "") return "Leave out user and password.";
  return address.trim().length > 2_000 ? "Use at most 2,000 characters." : null;
}
