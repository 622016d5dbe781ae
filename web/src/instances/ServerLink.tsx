import { Anchor, type AnchorProps } from "@mantine/core";
import { Link } from "@tanstack/react-router";

/** ServerLink is the name of a server, which leads to its page. It looks as a link does where it stands: in a sentence, or alone. */
export function ServerLink({ id, name, ...look }: { id: string; name: string } & AnchorProps) {
  return (
    <Anchor
      {...look}
      renderRoot={(props) => <Link to="/instances/$instanceId" params={{ instanceId: id }} {...props} />}
    >
      <bdi>{name}</bdi>
    </Anchor>
  );
}
