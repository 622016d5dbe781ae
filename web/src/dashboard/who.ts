// Who is behind a figure: what the address says of it, and how a click comes to say it.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { figures, keys } from "../url/schemas";
import type { SeriesName } from "./useHidden";

export type Figure = (typeof figures)[number];
export type Key = (typeof keys)[number];

/** Who is whose figure of which time; connections, which are of this moment, have none. */
export type Who = { figure: Figure; from?: string; to?: string; by?: Key };

/** figureOf is what the panel calls a tile's series. */
export const figureOf: Record<SeriesName, Figure> = {
  active: "firing",
  resolved: "resolved",
  cpuPercent: "cpu",
  memoryPercent: "memory",
  diskPercent: "disk",
  avgLatencyMs: "average",
  maxLatencyMs: "maximum",
  locks: "locks",
  lightweightLocks: "lightweightLocks",
  io: "io",
  clientNetwork: "clientNetwork",
  other: "other",
};

/** useWho is what the panel shows, null while it is closed, and how to have it show something else; null closes it. */
export function useWho() {
  const { who: figure, whoFrom: from, whoTo: to, whoBy: by } = useSearch({ from: "/" });
  const navigate = useNavigate();
  /** The same time told apart in another way is no step for Back. */
  const show = useCallback(
    (who: Who | null, replace = false) =>
      navigate({
        to: ".",
        replace,
        resetScroll: false,
        search: ((previous: object) => ({
          ...previous,
          who: who?.figure,
          whoFrom: who?.from,
          whoTo: who?.to,
          whoBy: who?.by,
        })) as never,
      }),
    [navigate],
  );
  const who: Who | null = figure === undefined ? null : { figure, from, to, by };
  const middle = who?.from && who.to ? (Date.parse(who.from) + Date.parse(who.to)) / 2 : null;
  return { who, middle, show };
}
