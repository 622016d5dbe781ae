import { Alert, Anchor } from "@mantine/core";
import { IconBellOff } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { api } from "../api/client";
import { untold } from "./words";

/** Untold says to administrators that a scheduled report can fail, or be missed, without anybody being told. */
export function Untold() {
  const rules = api.useQuery("get", "/api/v1/notification-rules", {});
  const channels = api.useQuery("get", "/api/v1/channels", {});
  const what = rules.data && channels.data && untold(rules.data.items, channels.data.items);
  if (!what) return null;
  return (
    <Alert
      role="status"
      color="yellow"
      variant="outline"
      mb="md"
      icon={<IconBellOff aria-hidden />}
      title={`A scheduled report can ${what}, and nobody is notified`}
      data-untold
    >
      No active notification rule covers this event for all instances.{" "}
      <Anchor inherit underline="always" renderRoot={(props) => <Link {...props} to="/notifications/rules/new" />}>
        Add a rule
      </Anchor>
    </Alert>
  );
}
