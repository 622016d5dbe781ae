import { Skeleton } from "@mantine/core";

/** PagePending stands where a page will be whose code is on its way. */
export function PagePending() {
  return (
    <div role="status" aria-label="The page is being loaded">
      <Skeleton h={28} w={220} maw="60%" mb="lg" />
      <Skeleton h={120} mb="md" />
      <Skeleton h={320} />
    </div>
  );
}
