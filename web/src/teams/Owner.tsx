import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { components } from "../api/schema";

/** Owner is the team that a server, an alert or a finding belongs to; it leads to the team's servers. */
export function Owner({ owner }: { owner: components["schemas"]["Owner"] }) {
  if (!owner)
    return (
      <Text span inherit c="dimmed">
        No owner
      </Text>
    );
  return (
    <Anchor inherit renderRoot={(props) => <Link {...props} to="/instances" search={{ owner: owner.id } as never} />}>
      <bdi>{owner.name}</bdi>
    </Anchor>
  );
}
