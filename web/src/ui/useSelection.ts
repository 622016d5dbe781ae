import { useState } from "react";

/** Row is what can be selected, if the reader may change it. */
export type Row = { id: string; mayAct: boolean };

/** Selection is which rows of the shown page are selected. */
export type Selection = {
  selected: ReadonlySet<string>;
  select: (ids: readonly string[], on: boolean) => void;
  /** only leaves these selected, and no other. */
  only: (ids: readonly string[]) => void;
  /** All that match the list's filter are selected, on whatever page they are. */
  all: boolean;
  selectAll: () => void;
};

/**
 * useSelection is the selection on a page of a list. Another address (another page, filter or order) begins with none,
 * and what has left the page is not selected: nothing is done to what nobody sees. Nor are rows that the reader may not
 * change.
 */
export function useSelection(rows: readonly Row[], address: unknown): Selection {
  const of = JSON.stringify(address);
  const [kept, keep] = useState<{ of: string; ids: ReadonlySet<string>; all?: boolean }>({ of, ids: new Set() });
  const all = kept.of === of && kept.all === true;
  const here = kept.of === of ? rows.filter(({ id, mayAct }) => mayAct && (all || kept.ids.has(id))) : [];
  const selected = new Set(here.map(({ id }) => id));
  return {
    all,
    selectAll: () => keep({ of, ids: selected, all: true }),
    selected,
    select: (ids, on) => {
      const next = new Set(selected);
      for (const id of ids) next[on ? "add" : "delete"](id);
      keep({ of, ids: next });
    },
    only: (ids) => keep({ of, ids: new Set(ids) }),
  };
}
