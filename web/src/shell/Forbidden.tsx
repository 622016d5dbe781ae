import { Anchor, Text } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../ui/EmptyState";
import { PageTitle } from "../ui/PageTitle";

/** Forbidden explains why a page that exists is not for its reader. */
export function Forbidden({ title, role }: { title: string; role: string }) {
  return (
    <>
      <PageTitle title={title} />
      <EmptyState icon={<IconLock size={32} aria-hidden />} title="403: your role may not see this page">
        <Text size="sm">
          You are signed in as {role}. An administrator of your organization can give you another role, under Members.
        </Text>
        <Anchor component={Link} to="/" size="sm">
          To the dashboard
        </Anchor>
      </EmptyState>
    </>
  );
}
