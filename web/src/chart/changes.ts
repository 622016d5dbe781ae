import { type ComponentType, createContext } from "react";

/** Change is what happened at a time: a deployment that somebody noted, or what Muster saw to be other than before. */
export type Change = {
  id: string;
  at: number;
  /** When it ends, where it lasts: a maintenance window. */
  until?: number;
  kind: string;
  text: string;
  /** At which servers. */
  where: string;
  /** Who noted it; null where Muster knows it by itself. */
  who: string | null;
};

/** Changes are those of a page, and what draws them on a chart: that is loaded after the first chart. */
export type Changes = { all: readonly Change[]; Flags: ComponentType<{ title: string; from: number; to: number }> };

/** ChangesContext has what every chart below shows as flags; null: nothing, or nothing yet. */
export const ChangesContext = createContext<Changes | null>(null);
