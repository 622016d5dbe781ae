import { IconCalendarExclamation } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { overdueLine } from "../findings/due";
import { useScope } from "../window/scope";
import { useOverview } from "./overview";
import classes from "./states.module.css";

/** Overdue is one line with how many findings in scope are overdue, which leads to them. It comes with the key figures. */
export function Overdue() {
  const { filter, matchesNothing } = useScope();
  const { data } = useOverview();
  const line = matchesNothing ? null : overdueLine(data?.overdueFindings);
  if (line === null) return null;
  return (
    <Link to="/findings" search={{ overdue: "true", sort: "dueAt", ...filter }} className={classes.state} data-overdue>
      <IconCalendarExclamation size={16} aria-hidden />
      {line}
    </Link>
  );
}
