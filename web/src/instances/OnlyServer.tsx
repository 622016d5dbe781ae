import { UnstyledButton } from "@mantine/core";
import type { Schemas } from "../api/client";

/** OnlyServer is a server of a row, which narrows the page to itself; one that was removed cannot be filtered by. */
export function OnlyServer({
  instance,
  onChoose,
}: {
  instance: Schemas["ContributingInstance"];
  onChoose: (id: string) => void;
}) {
  if (instance.removed) {
    return (
      <>
        <bdi>{instance.name}</bdi> (removed)
      </>
    );
  }
  return (
    <UnstyledButton
      fz="xs"
      td="underline"
      mih={24}
      aria-label={`Only ${instance.name}`}
      onClick={() => onChoose(instance.id)}
    >
      <bdi>{instance.name}</bdi>
    </UnstyledButton>
  );
}
