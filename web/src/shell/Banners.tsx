import { Alert, CloseButton, Group, Text } from "@mantine/core";
import { IconFlask, IconLockOpen } from "@tabler/icons-react";
import { useState } from "react";
import { useDemo } from "../api/demo";
import { kept } from "./kept";

const dismissed = kept(() => sessionStorage, "muster-demo-banner");

/** DemoBanner says that what is shown is made up; who knows can put it away until the browser is closed. */
export function DemoBanner() {
  const demo = useDemo();
  const [gone, setGone] = useState(() => dismissed.read() === "dismissed");
  if (!demo || gone) return null;
  return (
    <Group className="demo-banner" role="complementary" aria-label="Demo" wrap="nowrap" gap="xs">
      <IconFlask size={16} aria-hidden />
      <Text size="sm" flex={1}>
        Demo organization: all data is made up, except for Muster's private PostgreSQL.
      </Text>
      <CloseButton
        size="sm"
        aria-label="Dismiss"
        onClick={() => {
          dismissed.write("dismissed");
          setGone(true);
        }}
      />
    </Group>
  );
}

/** InsecureBanner warns where what is typed and shown crosses the network readable: plain HTTP, and not this machine. */
export function InsecureBanner() {
  if (window.isSecureContext) return null;
  return (
    <Alert color="red" variant="filled" role="note" icon={<IconLockOpen aria-hidden />} mb="md" py="xs">
      This connection is not encrypted: others on the network can read passwords, sessions and reports. Open Muster over
      https.
    </Alert>
  );
}
