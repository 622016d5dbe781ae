import { Alert, Code, Text } from "@mantine/core";
import { IconLockOpen } from "@tabler/icons-react";

/** allowsPlainHTTP says that the server keeps sessions over plain HTTP too, which it writes on the body of every page. */
export const allowsPlainHTTP = () => document.body.dataset.plainHttp !== undefined;

/**
 * keepsSessions says that the browser will keep the session of a sign-in here. Its cookie is a __Host- one and Secure:
 * from plain HTTP a browser drops that without a word, unless the host is its own machine, and the sign-in comes back
 * for ever.
 */
export const keepsSessions = () => window.isSecureContext || allowsPlainHTTP();

/** PlainHTTPWarning says that the connection is readable, on every page of a server that allows it. Else it is nothing. */
export function PlainHTTPWarning() {
  if (!allowsPlainHTTP()) return null;
  return (
    <Alert color="red" role="note" icon={<IconLockOpen aria-hidden />} id="plain-http">
      This connection is not encrypted: others on the network can read passwords, sessions and reports. Open Muster over
      https.
    </Alert>
  );
}

/** PlainHTTPRefusal says, before anybody types a password, that signing in here leads nowhere, and what to do. */
export function PlainHTTPRefusal() {
  return (
    <Alert color="red" role="alert" icon={<IconLockOpen aria-hidden />} title="You cannot sign in at this address">
      <Text size="sm">
        This address uses plain HTTP, and browsers keep no session for it. Open Muster at its <Code>https://</Code>{" "}
        address.
      </Text>
      <Text size="sm" mt="xs">
        If there is none, the person who runs Muster can put a proxy with a certificate in front of it, or set{" "}
        <Code>MUSTER_PUBLIC_URL={location.origin}</Code> and <Code>MUSTER_INSECURE_COOKIES=true</Code>. Signing in then
        works here, but passwords and sessions cross the network unencrypted.
      </Text>
    </Alert>
  );
}
