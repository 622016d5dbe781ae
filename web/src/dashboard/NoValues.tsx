import { Anchor } from "@mantine/core";
import { IconChartDots, IconCloudOff, IconFilterOff, IconHourglass } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { useNow } from "../ui/now";
import { useScope } from "../window/scope";
import { awaitsFirst, useReporting } from "./fleet";

/** NoInstance is shown where the filter names no server that could be asked for. */
export function NoInstance() {
  return (
    <EmptyState
      icon={<IconFilterOff size={28} stroke={1.5} aria-hidden />}
      title="No instance matches this filter"
      action={
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link from="/" to="/" search={(here) => ({ ...here, instanceId: undefined, tag: undefined })} {...props} />
          )}
        >
          Show all instances
        </Anchor>
      }
    />
  );
}

/** NotRead is shown where there may be values, and an engine could not be read. */
export function NotRead() {
  return (
    <EmptyState icon={<IconCloudOff size={28} stroke={1.5} aria-hidden />} title="Not available right now">
      A database engine could not be read. Its values show again when it can be read.
    </EmptyState>
  );
}

/** NoValues is shown where a window has no value at all, with the nearest place that may have some. */
export function NoValues() {
  const { window, servers } = useScope();
  const admin = useSession().can("admin");
  const { instances } = useReporting(servers);
  const now = useNow(10_000);
  if (awaitsFirst(instances ?? [], now.getTime())) {
    return (
      <EmptyState icon={<IconHourglass size={28} stroke={1.5} aria-hidden />} title="Waiting for the first minute">
        This instance is new. Muster measures once a minute, so the first values appear in a minute or two.
      </EmptyState>
    );
  }
  const day = window.preset === "24h";
  return (
    <EmptyState
      icon={<IconChartDots size={28} stroke={1.5} aria-hidden />}
      title="No data in this window"
      action={
        !day ? (
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link
                from="/"
                to="/"
                search={(here) => ({ ...here, range: "24h", from: undefined, to: undefined })}
                {...props}
              />
            )}
          >
            Show the last 24 hours
          </Anchor>
        ) : (
          admin && (
            <Anchor component={Link} to="/instances/connect" size="sm">
              Connect an agent
            </Anchor>
          )
        )
      }
    >
      {day && !admin
        ? "Nothing was measured in the last 24 hours. An administrator can connect an agent."
        : "Muster has no values for this time and these instances."}
    </EmptyState>
  );
}
