import { createContext, type ReactNode, useContext, useState } from "react";
import { useAfterFirst } from "../chart/first";
import type { Marks } from "../chart/types";
import { useLater } from "../ui/later";
import { useHidden } from "./useHidden";

const MarksContext = createContext<Marks | null>(null);

/** useMarks is the alerts on the charts; null while there are none, or they are hidden. */
export const useMarks = () => useContext(MarksContext);

const alertMarks = () => import("./AlertMarks");

/**
 * MarksProvider puts alerts on every chart below it, once the first chart is there: what reads them is loaded then. The
 * charts go without where it cannot be loaded.
 */
export function MarksProvider({ children }: { children: ReactNode }) {
  const { hidden } = useHidden();
  const afterFirst = useAfterFirst();
  const [marks, tell] = useState<Marks | null>(null);
  const wanted = afterFirst && !hidden.has("alertMarks");
  const alerts = useLater(alertMarks, wanted, false);
  return (
    <MarksContext value={wanted ? marks : null}>
      {children}
      {wanted && alerts && <alerts.AlertMarks tell={tell} />}
    </MarksContext>
  );
}
