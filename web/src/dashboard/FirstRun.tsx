import { Button, Group } from "@mantine/core";
import { IconPlug, IconPlus, IconServer } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { Panel } from "../ui/Panel";

/** FirstRun stands in place of the dashboard while the organization has no server. */
export function FirstRun() {
  const admin = useSession().can("admin");
  return (
    <Panel>
      <EmptyState
        icon={<IconServer size={40} stroke={1.5} aria-hidden />}
        title="No servers yet"
        action={
          admin && (
            <Group mt="sm" justify="center">
              <Button component={Link} to="/instances/new" leftSection={<IconPlus size={16} aria-hidden />}>
                Add a server
              </Button>
              <Button
                component={Link}
                to="/instances/connect"
                variant="default"
                leftSection={<IconPlug size={16} aria-hidden />}
              >
                Connect an agent
              </Button>
            </Group>
          )
        }
      >
        {admin
          ? "Add a server for Muster to assess, or point an agent you already run at it. Its figures appear here within a minute."
          : "An administrator of your organization adds servers, or connects an agent. Ask one of them; Members lists who they are."}
      </EmptyState>
    </Panel>
  );
}
