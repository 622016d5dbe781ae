import { Anchor, Button, Group, List, Loader, Stack, Tabs, Text, TextInput, Title } from "@mantine/core";
import { IconCircleCheck, IconKey } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, type Schemas } from "../api/client";
import { serverNow } from "../api/clock";
import { usePolling } from "../api/polling";
import { asProblem, fieldErrors } from "../api/problem";
import { Mark } from "../ui/Mark";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Snippet } from "../ui/Snippet";
import { Time } from "../ui/Time";
import { type Agent, agents, placeholder, recipe } from "./snippets";

/** Made is an ingest token with its secret, which is known in this page only, and only until it is left. */
type Made = { id: string; name: string; token: string };

/** ConnectPage is how agents that people already run are pointed at this Muster. */
export function ConnectPage() {
  const search: { agent?: Agent } = useSearch({ from: "/instances/connect" });
  const navigate = useNavigate({ from: "/instances/connect" });
  const agent = search.agent ?? "prometheus";
  const [made, setMade] = useState<Made | null>(null);
  return (
    <>
      <PageTitle
        title="Connect an agent"
        lead={
          <>
            Send hosts, alerts and instances to Muster from tools you already run. If Muster should connect to an
            instance of PostgreSQL, SQL Server or Oracle itself,{" "}
            <Anchor inherit underline="always" renderRoot={(props) => <Link to="/instances/new" {...props} />}>
              add its connection
            </Anchor>
            .
          </>
        }
      />
      <Stack gap="lg">
        <Panel>
          <Title order={2} mb={4}>
            1. A token
          </Title>
          {made ? <Shown made={made} onAnother={() => setMade(null)} /> : <MakeToken agent={agent} onMade={setMade} />}
        </Panel>
        <Panel>
          <Title order={2} mb="sm">
            2. The agent
          </Title>
          <Tabs
            value={agent}
            onChange={(chosen) => navigate({ search: { agent: chosen as Agent }, replace: true })}
            keepMounted={false}
          >
            <Tabs.List>
              {agents.map((a) => (
                <Tabs.Tab key={a.id} value={a.id}>
                  {a.name}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {agents.map((a) => (
              <Tabs.Panel key={a.id} value={a.id} pt="md">
                <HowTo agent={a.id} token={made?.token ?? placeholder} />
              </Tabs.Panel>
            ))}
          </Tabs>
        </Panel>
        <Panel>
          <Title order={2} mb={4}>
            3. Received data
          </Title>
          {made ? (
            <Arrival tokenId={made.id} />
          ) : (
            <Text size="sm">Once you create a token, this page shows when it is first used.</Text>
          )}
          <Text size="sm" c="dimmed" mt="sm" maw="70ch">
            If nothing arrives, check the agent's log: 401 means the token is wrong, 415 means the protocol is not
            supported. Muster counts data that it cannot use in muster_ingest_dropped_total, by reason.
          </Text>
        </Panel>
      </Stack>
    </>
  );
}

function MakeToken({ agent, onMade }: { agent: Agent; onMade: (made: Made) => void }) {
  const [name, setName] = useState("");
  const make = api.useMutation("post", "/api/v1/ingest-tokens");
  const suggested = `${agent}-1`;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (make.isPending) return;
    make.mutate(
      { body: { name: name.trim() || suggested } },
      { onSuccess: ({ id, name, token }: Schemas["IngestToken"]) => onMade({ id, name, token: token ?? "" }) },
    );
  };
  const refused = make.error ? fieldErrors(asProblem(make.error), { "#/name": "name" }) : null;
  return (
    <form onSubmit={submit}>
      <Text size="sm" c="dimmed" mb="sm" maw="70ch">
        An ingest token can write to this organization and read nothing. Create one for each sender, so that you can
        revoke one without affecting the others.
      </Text>
      <Group align="flex-end" gap="sm">
        <TextInput
          label="Name"
          placeholder={suggested}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={refused?.fields.name}
          maxLength={200}
          autoComplete="off"
          style={{ flex: "0 1 18rem" }}
        />
        <Button type="submit" loading={make.isPending} leftSection={<IconKey size={16} aria-hidden />}>
          Create an ingest token
        </Button>
      </Group>
      {refused && !refused.fields.name && (
        <Stack mt="sm">
          <ProblemNote error={make.error} title="The token was not created" />
        </Stack>
      )}
    </form>
  );
}

function Shown({ made, onAnother }: { made: Made; onAnother: () => void }) {
  return (
    <Stack gap="xs">
      <Text size="sm" maw="70ch">
        {made.name} stands in the commands below. It is shown now and never again, and is good for 90 days;{" "}
        <Anchor inherit underline="always" renderRoot={(props) => <Link to="/settings/tokens" {...props} />}>
          Tokens
        </Anchor>{" "}
        page.
      </Text>
      <Snippet label="Ingest token" text={made.token} wrapped />
      <Group>
        <Button variant="default" size="xs" onClick={onAnother}>
          Create another
        </Button>
      </Group>
    </Stack>
  );
}

function HowTo({ agent, token }: { agent: Agent; token: string }) {
  const [now] = useState(serverNow);
  const { brings, steps, notes } = recipe(agent, location.origin, token, now);
  return (
    <Stack gap="md">
      <Text size="sm">{brings}</Text>
      {steps.map((step) => (
        <Snippet key={step.label} {...step} />
      ))}
      <List size="sm" spacing={4}>
        {notes.map((note) => (
          <List.Item key={note}>{note}</List.Item>
        ))}
      </List>
    </Stack>
  );
}

/** Arrival waits for the first message under a token. */
function Arrival({ tokenId }: { tokenId: string }) {
  const { data, error } = api.useQuery(
    "get",
    "/api/v1/ingest-tokens",
    {},
    { ...usePolling(() => 5_000), staleTime: 0 },
  );
  const token = data?.items.find((t) => t.id === tokenId);
  return (
    <div role="status">
      {error && <ProblemNote error={error} />}
      {token?.lastUsedAt ? (
        <Group gap="xs">
          <Mark tone="good" icon={<IconCircleCheck size={18} aria-hidden />}>
            It works
          </Mark>
          <Text size="sm">
            Last message <Time at={token.lastUsedAt} relative />
            {token.lastUsedIp ? ` from ${token.lastUsedIp}` : ""}.{" "}
            <Anchor inherit underline="always" renderRoot={(props) => <Link to="/instances" {...props} />}>
              Show the instances
            </Anchor>{" "}
            or{" "}
            <Anchor
              inherit
              underline="always"
              renderRoot={(props) => <Link to="/" search={{ range: "15m", refresh: "30s" }} {...props} />}
            >
              watch the dashboard fill
            </Anchor>
          </Text>
        </Group>
      ) : (
        <Group gap="sm">
          <Loader size="xs" aria-hidden />
          <Text size="sm">Waiting for the first sample…</Text>
        </Group>
      )}
    </div>
  );
}
