import { keepPreviousData } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { api, type Schemas } from "../api/client";
import type { Change } from "../chart/changes";
import { plural } from "../ui/format";
import type { Servers } from "../window/query";

export { Flags } from "./Flags";

type Mark = Schemas["Mark"];

function whereOf({ kind, instance, tags, instanceCount }: Mark): string {
  if (instance) return instance.removed ? `${instance.name} (removed)` : instance.name;
  if (kind === "maintenance") return plural(instanceCount ?? 0, "server");
  const words = Object.entries(tags).map(([key, value]) => `${key}: ${value}`);
  return words.length === 0 ? "all servers" : `${plural(instanceCount ?? 0, "server")} with ${words.join(", ")}`;
}

function whoOf({ by, token }: Mark): string | null {
  if (!by) return token && `the token ${token.name}`;
  return token ? `${by.name} (token ${token.name})` : by.name;
}

/** changeOf is a mark as charts show it. */
export const changeOf = (mark: Mark): Change => ({
  id: mark.id,
  at: Date.parse(mark.at),
  ...(mark.until && { until: Date.parse(mark.until) }),
  kind: mark.kind,
  text: mark.text,
  where: whereOf(mark),
  who: whoOf(mark),
});

/** ReadChanges reads what happened in a window, at some servers, and tells it. */
export function ReadChanges({
  from,
  to,
  servers,
  tell,
}: {
  from: string;
  to: string;
  servers: Servers;
  tell: (changes: readonly Change[]) => void;
}) {
  const { data } = api.useQuery(
    "get",
    "/api/v1/marks",
    { params: { query: { from, to, ...servers } } },
    { placeholderData: keepPreviousData },
  );
  const changes = useMemo(() => data?.items.map(changeOf) ?? [], [data]);
  useEffect(() => tell(changes), [changes, tell]);
  return null;
}
