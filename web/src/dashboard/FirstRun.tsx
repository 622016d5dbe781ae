import { Button, Group } from "@mantine/core";
import { IconPlug, IconPlus, IconServer } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { ByItself } from "../notify/ByItself";
import { noServers } from "../teams/noServers";
import { EmptyState } from "../ui/EmptyState";
import { Panel } from "../ui/Panel";
import { useReporting } from "./fleet";

/** FirstRun stands in place of the dashboard while the organization has no instance. */
export function FirstRun() {
  const session = useSession();
  const admin = session.can("admin");
  useReporting({}, 5_000); // an agent may add one at any moment
  return (
    <>
      <ByItself />
      <Panel>
        <EmptyState
          icon={<IconServer size={40} stroke={1.5} aria-hidden />}
          title={session.role === "team" ? noServers.title : "No instances yet"}
          action={
            admin && (
              <Group mt="sm" justify="center">
                <Button component={Link} to="/instances/new" leftSection={<IconPlus size={16} aria-hidden />}>
                  Add an instance
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
          {session.role === "team"
            ? noServers.why
            : admin
              ? "Add a database instance for Muster to assess, or point an agent that you already run at Muster. The first values appear here within two minutes."
              : "Only an administrator can add instances or connect an agent. The Members page lists your administrators."}
        </EmptyState>
      </Panel>
    </>
  );
}
