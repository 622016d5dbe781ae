import { Button, Text } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../ui/EmptyState";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";

/** Forbidden explains why a page that exists is not for its reader. */
export function Forbidden({ title, role }: { title: string; role: string }) {
  return (
    <>
      <PageTitle title={title} />
      <Panel>
        <EmptyState
          icon={<IconLock size={32} stroke={1.5} aria-hidden />}
          title="403: your role does not include this page"
          action={
            <Button renderRoot={(props) => <Link {...props} to="/" />} variant="default" size="xs" mt="xs">
              Go to the dashboard
            </Button>
          }
        >
          <Text size="sm">
            You are signed in as {role}. An administrator of your organization can give you another role, under Members.
          </Text>
        </EmptyState>
      </Panel>
    </>
  );
}
