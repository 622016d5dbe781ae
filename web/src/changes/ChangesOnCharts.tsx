import { type ReactNode, useMemo, useState } from "react";
import { type Change, ChangesContext } from "../chart/changes";
import { useAfterFirst } from "../chart/first";
import { useLater } from "../ui/later";
import { namesNone, type Servers } from "../window/query";

const reading = () => import("./read");

const none: readonly Change[] = [];

/**
 * ChangesOnCharts puts what happened in a window on every chart below it, by one request, after the first chart is there.
 * The charts go without where it cannot be read.
 */
export function ChangesOnCharts({
  from,
  to,
  servers,
  children,
}: {
  from: string;
  to: string;
  servers: Servers;
  children: ReactNode;
}) {
  const wanted = useAfterFirst() && !namesNone(servers);
  const [all, tell] = useState(none);
  const later = useLater(reading, wanted, false);
  const changes = useMemo(
    () => (wanted && later && all.length > 0 ? { all, Flags: later.Flags } : null),
    [wanted, later, all],
  );
  return (
    <ChangesContext value={changes}>
      {children}
      {wanted && later && <later.ReadChanges from={from} to={to} servers={servers} tell={tell} />}
    </ChangesContext>
  );
}
