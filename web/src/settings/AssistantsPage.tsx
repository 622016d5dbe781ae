import { Alert, Anchor, List, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { api } from "../api/client";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Snippet } from "../ui/Snippet";
import { assistantSnippets } from "./assistants";

/** AssistantsPage is how an AI assistant is connected, so that it can read what its token's owner may read. */
export function AssistantsPage() {
  const { data, error } = api.useQuery("get", "/version");
  return (
    <>
      <PageTitle
        title="AI assistants"
        lead="An assistant that speaks the Model Context Protocol (MCP) can read servers, alerts, statements, findings and reports. It changes nothing in Muster."
      />
      <Stack gap="lg">
        {error && <ProblemNote error={error} />}
        {data && !data.assistants && (
          <Alert title="Assistants are off" variant="light">
            An operator turns them on for the whole installation with the setting MUSTER_MCP=on.
          </Alert>
        )}
        <Panel>
          <Title order={2} mb={4}>
            1. A token
          </Title>
          <Text size="sm" maw="70ch">
            Create an API token for the assistant on the page{" "}
            <Anchor inherit underline="always" renderRoot={(props) => <Link to="/settings/tokens" {...props} />}>
              Tokens
            </Anchor>
            . Its scopes and your role decide which tools the assistant has:
          </Text>
          <List size="sm" spacing={4} mt="xs">
            <List.Item>metrics:read for servers, figures, statements, blocking and changes</List.Item>
            <List.Item>alerts:read for alerts and their notifications</List.Item>
            <List.Item>reports:read for reports, reports:download for findings, fixes and evidence</List.Item>
          </List>
        </Panel>
        <Panel>
          <Title order={2} mb="sm">
            2. The assistant
          </Title>
          <Stack gap="md">
            {assistantSnippets(location.origin).map((snippet) => (
              <Snippet key={snippet.label} {...snippet} />
            ))}
          </Stack>
        </Panel>
        <Panel>
          <Title order={2} mb={4}>
            3. Privacy and limits
          </Title>
          <List size="sm" spacing={4} maw="75ch">
            <List.Item>
              The assistant sends what it reads to the company that runs its model. Statement texts and names of people
              are in answers if the token may see them; a token of a viewer may not.
            </List.Item>
            <List.Item>
              Every answer has the address of its page, the units, its time, and how many servers are heard. Texts from
              servers are marked as data.
            </List.Item>
            <List.Item>
              Each request counts toward your rate limit. The audit list shows which tools a token used, once an hour.
            </List.Item>
            <List.Item>Revoke the token to disconnect the assistant.</List.Item>
          </List>
        </Panel>
      </Stack>
    </>
  );
}
