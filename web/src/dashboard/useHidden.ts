import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import type { hidable, series } from "../url/schemas";

export type SeriesName = (typeof series)[number];
export type Hidable = (typeof hidable)[number];

/**
 * Left out until somebody asks for them: idle sessions wait for their client, which PostgreSQL counts as Client and Oracle
 * as Idle, one of Other. They are so many that waits for locks and disks would be a line on the base beside them.
 */
export const atFirst: readonly Hidable[] = ["clientNetwork", "other"];

/** useHidden is which series, and whether the marks of alerts, the tiles leave out, as the address says, and how to leave out or show one more. */
export function useHidden(): { hidden: ReadonlySet<string>; toggle: (key: string) => void } {
  const { hide = atFirst } = useSearch({ from: "/" });
  const navigate = useNavigate();
  const hidden = useMemo(() => new Set<string>(hide), [hide]);
  const toggle = useCallback(
    (key: string) =>
      navigate({
        to: ".",
        // The same page with a line more or less: nothing for Back to return to.
        replace: true,
        resetScroll: false,
        search: ((previous: { hide?: Hidable[] }) => ({
          ...previous,
          hide: toggled(previous.hide ?? atFirst, key as Hidable),
        })) as never,
      }),
    [navigate],
  );
  return { hidden, toggle };
}

/** toggled is the address's list with a series put in or taken out; undefined where that is what it is without any. */
export function toggled(hide: readonly Hidable[], key: Hidable): Hidable[] | undefined {
  const next = hide.includes(key) ? hide.filter((k) => k !== key) : [...hide, key];
  return next.length === atFirst.length && next.every((k) => atFirst.includes(k)) ? undefined : next;
}
