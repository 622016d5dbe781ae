import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session";

/** noServer is what a sentence that promises an e-mail ends with where nobody will get it. */
export const noServer = (mail: "server" | "outbox") =>
  mail === "server" ? "" : " No mail server is set: e-mails are kept in the outbox.";

/** OutboxNote says, where an e-mail is promised, that nobody will get it: no mail server is set. */
export function OutboxNote() {
  const { mail, can } = useSession();
  if (mail === "server") return null;
  return (
    <Text size="sm" data-no-mail-server>
      No mail server is set: e-mails are kept in the{" "}
      {can("admin") ? (
        <Anchor inherit underline="always" renderRoot={(props) => <Link {...props} to="/ops/outbox" />}>
          outbox
        </Anchor>
      ) : (
        "outbox"
      )}
      , and nobody gets them. The person who runs Muster sets <code>MUSTER_SMTP_URL</code>.
    </Text>
  );
}
