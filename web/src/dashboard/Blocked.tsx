import { IconLock } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client";
import { serverNow } from "../api/clock";
import { titleOf } from "../blocking/episode";
import { count } from "../ui/format";
import { useScope } from "../window/scope";
import { useCurrent } from "./asking";
import classes from "./dashboard.module.css";

/**
 * An episode lasts until five minutes after its last sample: what began or went on since may still. A computer whose
 * clock was set by up to ten minutes since the page was opened asks for no window in the future. Milliseconds.
 */
const lately = 15 * 60_000;
const ahead = 30 * 24 * 3_600_000;

/** Blocked is who holds up the most sessions in scope at this moment, and leads to the tree; nothing while nobody waits. */
export function Blocked() {
  const { servers, search, matchesNothing } = useScope();
  // By the server's clock, and its end is ahead, so that the same question is asked again and again.
  const [at] = useState(serverNow);
  const [from, to] = [at.getTime() - lately, at.getTime() + ahead].map((time) => new Date(time).toISOString());
  const { data } = api.useQuery(
    "get",
    "/api/v1/blocking",
    { params: { query: { from: from as string, to: to as string, pageSize: 100, ...servers } } },
    { ...useCurrent(), enabled: !matchesNothing },
  );
  const lasting = (data?.items ?? []).filter((e) => e.to === null).sort((a, b) => b.maxBlocked - a.maxBlocked);
  const [first] = lasting;
  if (matchesNothing || !first) return null;
  return (
    <Link
      to="/blocking/$episodeId"
      params={{ episodeId: first.id }}
      search={search}
      className={classes.held}
      title={titleOf(first)}
      data-blocked
    >
      <IconLock size={16} aria-hidden />
      <span>
        {titleOf(first)}
        {lasting.length > 1 && `, and ${count(lasting.length - 1)} more`}
      </span>
    </Link>
  );
}
