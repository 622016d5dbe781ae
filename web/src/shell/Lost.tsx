import { Button } from "@mantine/core";
import { IconMapOff } from "@tabler/icons-react";
import { Link, useRouterState } from "@tanstack/react-router";
import { EmptyState } from "../ui/EmptyState";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";

/** Lost is shown where there is nothing at an address. */
export function Lost() {
  const path = useRouterState({ select: (s) => s.location.pathname });
  return (
    <>
      <PageTitle title="Page not found" />
      <Panel>
        <EmptyState
          icon={<IconMapOff size={32} stroke={1.5} aria-hidden />}
          title="404: this page does not exist"
          action={
            <Button renderRoot={(props) => <Link {...props} to="/" />} variant="default" size="xs" mt="xs">
              Go to the dashboard
            </Button>
          }
        >
          There is no page at {path}. Use the navigation to find the page you need.
        </EmptyState>
      </Panel>
    </>
  );
}
