import { usePolling } from "../api/polling";
import type { Scope } from "../window/scope";

/** windowQuery is the window and the filter as the three measured tiles ask for them, the same to the byte. */
export const windowQuery = ({ window: { from, to, bucketSize }, instanceIds }: Scope) => ({
  from,
  to,
  bucketSize,
  ...(instanceIds && { instanceId: instanceIds }),
});

/** useCurrent is the options of figures of this moment: they are read again every 30 s, sooner than samples come in. */
export const useCurrent = () => usePolling(() => 30_000);
