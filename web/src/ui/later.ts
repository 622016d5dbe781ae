import { startTransition, useEffect, useState } from "react";
import { part } from "./part";

/**
 * useLater is a module that is loaded once it is wanted; null until it is there. `load` is the same function at each
 * rendering. Not by lazy(): React shows what that has loaded 300 ms late. Where it cannot be loaded the page fails, or
 * goes without if it does not need it.
 */
export function useLater<M>(load: () => Promise<M>, wanted: boolean, needed = true): M | null {
  const [loaded, show] = useState<M | null>(null);
  const [failed, fail] = useState<unknown>(null);
  useEffect(() => {
    if (!wanted || loaded !== null) return;
    let left = false;
    part(load).then(
      (module) => left || startTransition(() => show(() => module)),
      (error) => left || fail(error),
    );
    return () => {
      left = true;
    };
  }, [load, wanted, loaded]);
  if (failed !== null && needed) throw failed;
  return loaded;
}
