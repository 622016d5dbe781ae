import { Skeleton } from "@mantine/core";
import { useAway } from "../api/away";
import { EmptyState } from "../ui/EmptyState";
import { Panel } from "../ui/Panel";

/** PagePending stands where a page will be whose code is on its way. */
export function PagePending() {
  const away = useAway();
  if (away) {
    return (
      <Panel>
        <EmptyState title="This page is not loaded yet">It opens when the server answers again.</EmptyState>
      </Panel>
    );
  }
  return (
    <div role="status" aria-label="Loading page">
      <Skeleton h={28} w={220} maw="60%" mb="lg" />
      <Skeleton h={120} mb="md" />
      <Skeleton h={320} />
    </div>
  );
}
