import type { Schemas } from "../api/client";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Around is a part of the dashboard's address: a window, and the server that it is narrowed to. */
type Around = { from: string; to: string; instanceId?: string[] };

/**
 * aroundOf is the dashboard at an alert: from an hour before it began until an hour after it ended, or until now, and its
 * server. Of one that lasted longer than a day it is the beginning, in minutes.
 */
export function aroundOf(
  alert: Pick<Schemas["Alert"], "firstTriggeredAt" | "lastTriggeredAt" | "resolvedAt" | "instance">,
  now: Date,
): Around {
  const began = Date.parse(alert.firstTriggeredAt);
  const ended = alert.resolvedAt === null ? now.getTime() : Date.parse(alert.resolvedAt);
  const from = began - hour;
  const to = Math.max(Math.min(ended + hour, from + day, now.getTime()), from + minute);
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    ...(alert.instance && { instanceId: [alert.instance.id] }),
  };
}
