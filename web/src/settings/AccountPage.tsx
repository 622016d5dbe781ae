import { Stack, Text, Title } from "@mantine/core";
import { useSession } from "../api/session";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ChangePassword } from "./ChangePassword";
import { roleName, roles } from "./roles";
import { Sessions } from "./Sessions";

/** AccountPage is the reader's own: who they are here, their password, where they are signed in. */
export function AccountPage() {
  const { member, organization, role, authMethod } = useSession();
  return (
    <>
      <PageTitle title="Your account" />
      <Stack gap="xl">
        <Panel>
          <Title order={2} mb="xs">
            {member.name}
          </Title>
          <Text size="sm">{member.email}</Text>
          <Text size="sm" mt="xs">
            {roleName(role)} of {organization.name}.{" "}
            <Text span inherit c="dimmed">
              {roles.find((r) => r.role === role)?.may} Only an administrator can change your role.
            </Text>
          </Text>
        </Panel>
        <section aria-labelledby="password">
          <Title order={2} id="password" mb="sm">
            Password
          </Title>
          <Panel>
            {authMethod === "oidc" ? (
              <Text size="sm">
                You signed in through your organization's identity provider. Change your password there.
              </Text>
            ) : (
              <ChangePassword email={member.email} />
            )}
          </Panel>
        </section>
        <Sessions />
      </Stack>
    </>
  );
}
