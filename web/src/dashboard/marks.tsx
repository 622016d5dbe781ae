import { type ComponentType, createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { useAfterFirst } from "../chart/first";
import type { Marks } from "../chart/types";
import { part } from "../ui/part";
import { useHidden } from "./useHidden";

const MarksContext = createContext<Marks | null>(null);

/** useMarks is the alerts on the charts; null while there are none, or they are hidden. */
export const useMarks = () => useContext(MarksContext);

type Reader = ComponentType<{ tell: (marks: Marks | null) => void }>;

/**
 * MarksProvider puts alerts on every chart below it, once the first chart is there: what reads them is loaded then. The
 * charts go without where it cannot be loaded.
 */
export function MarksProvider({ children }: { children: ReactNode }) {
  const { hidden } = useHidden();
  const afterFirst = useAfterFirst();
  const [marks, tell] = useState<Marks | null>(null);
  const [Alerts, load] = useState<Reader | null>(null);
  const wanted = afterFirst && !hidden.has("alertMarks");
  useEffect(() => {
    if (wanted && Alerts === null) {
      part(() => import("./AlertMarks")).then(
        (m) => load(() => m.AlertMarks),
        () => {},
      );
    }
  }, [wanted, Alerts]);
  return (
    <MarksContext value={wanted ? marks : null}>
      {children}
      {wanted && Alerts && <Alerts tell={tell} />}
    </MarksContext>
  );
}
