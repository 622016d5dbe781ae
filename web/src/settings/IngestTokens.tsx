import { Anchor, Button, Group, Modal, MultiSelect, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconPlugConnected, IconPlus } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { empty } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { api, client, type Schemas } from "../api/client";
import { queryClient } from "../api/queries";
import { EmptyState } from "../ui/EmptyState";
import { plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { Confirm } from "./Confirm";
import { defaultExpiry, ExpiryChoice, expiryAfter } from "./expiry";
import { useInstanceChoice, useInstanceNames } from "./instanceNames";
import { ListSkeleton } from "./ListTable";
import { TokenMade } from "./TokenMade";
import { type TokenRow, TokenTable } from "./TokenTable";

const changed = () => queryClient.invalidateQueries({ queryKey: ["get", "/api/v1/ingest-tokens"] });

/** IngestTokens are the organization's: agents and monitoring tools send in facts and samples with them. */
export function IngestTokens() {
  const tokens = api.useQuery("get", "/api/v1/ingest-tokens");
  const names = useInstanceNames(tokens.data?.items.flatMap((token) => token.instanceIds ?? []) ?? []);
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<Schemas["IngestToken"] | null>(null);
  const [revoked, setRevoked] = useState<TokenRow | null>(null);
  const reach = (ids: string[] | null) =>
    ids === null ? "Whole organization" : `${plural(ids.length, "instance")}: ${ids.map((id) => names(id)).join(", ")}`;
  return (
    <section aria-labelledby="ingest-tokens">
      <Group justify="space-between" mb="sm">
        <div>
          <Title order={2} id="ingest-tokens">
            Ingest tokens
          </Title>
          <Text size="sm" c="dimmed">
            For agents and monitoring tools that send instances, alerts and samples. They cannot read anything.{" "}
            <Anchor component={Link} to="/instances/connect" inherit>
              How to connect an agent
            </Anchor>
          </Text>
        </div>
        <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          New ingest token
        </Button>
      </Group>
      {tokens.isPending && <ListSkeleton rows={3} />}
      {tokens.isError && (
        <ProblemNote error={tokens.error} title="Tokens could not be loaded" onRetry={() => tokens.refetch()} />
      )}
      {tokens.data?.items.length === 0 && (
        <Panel>
          <EmptyState icon={<IconPlugConnected size={28} aria-hidden />} title="No ingest tokens">
            Create one for each agent, so that you can revoke one without affecting the others.
          </EmptyState>
        </Panel>
      )}
      {tokens.data && tokens.data.items.length > 0 && (
        <TokenTable
          label="Ingest tokens"
          reach="Writes to"
          tokens={tokens.data.items.map((token) => ({ ...token, reach: reach(token.instanceIds) }))}
          onRevoke={setRevoked}
        />
      )}
      {creating && (
        <NewIngestToken
          onClose={() => setCreating(false)}
          onMade={(token) => {
            setCreating(false);
            setMade(token);
          }}
        />
      )}
      {made?.token && (
        <TokenMade
          name={made.name}
          token={made.token}
          example={`curl -X POST -H "Authorization: Bearer ${made.token}" -H "Content-Type: application/json" -d '{"alerts":[]}' ${location.origin}/ingest/v1/alerts`}
          onClose={() => setMade(null)}
        />
      )}
      {revoked && <Revoke token={revoked} onClose={() => setRevoked(null)} />}
    </section>
  );
}

const fields = { "#/name": "name", "#/instanceIds": "instanceIds", "#/expiresAt": "days" };

function NewIngestToken({ onMade, onClose }: { onMade: (token: Schemas["IngestToken"]) => void; onClose: () => void }) {
  const choice = useInstanceChoice();
  const form = useForm({
    initialValues: { name: "", instanceIds: [] as string[], days: defaultExpiry },
    validate: { name: empty("a name") },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  return (
    <Modal opened onClose={onClose} title="New ingest token" closeButtonProps={{ "aria-label": "Close" }}>
      <form
        noValidate
        onSubmit={onSubmit(async ({ name, instanceIds, days }) => {
          const { data } = await client.POST("/api/v1/ingest-tokens", {
            body: {
              name: name.trim(),
              // None chosen is the whole organization, which is another thing than an empty list.
              ...(instanceIds.length > 0 && { instanceIds }),
              expiresAt: expiryAfter(days),
            },
          });
          await changed();
          if (data) onMade(data);
        })}
      >
        <Stack>
          <TextInput
            label="Name"
            description="Which tool uses it, and where it runs."
            maxLength={200}
            data-autofocus
            {...form.getInputProps("name")}
          />
          <MultiSelect
            label="Instances (optional)"
            description="The token can write only to these. Leave empty for the whole organization."
            placeholder={form.values.instanceIds.length === 0 ? "Whole organization" : undefined}
            data={choice}
            searchable
            clearable
            nothingFoundMessage="No instance matches"
            {...form.getInputProps("instanceIds")}
          />
          <ExpiryChoice {...form.getInputProps("days")} />
          {note && <ProblemNote error={note} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={running}>
              Create token
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function Revoke({ token, onClose }: { token: TokenRow; onClose: () => void }) {
  const revoke = useMutation({
    mutationFn: () => client.DELETE("/api/v1/ingest-tokens/{tokenId}", { params: { path: { tokenId: token.id } } }),
    onSuccess: async () => {
      onClose();
      say(`Token ${token.name} is revoked.`);
      await changed();
    },
  });
  return (
    <Confirm
      danger
      title={`Revoke ${token.name}`}
      verb="Revoke"
      busy={revoke.isPending}
      error={revoke.error}
      onClose={onClose}
      onConfirm={() => revoke.mutate()}
    >
      Muster rejects data sent with this token at once. Configure another token first to avoid gaps.
    </Confirm>
  );
}
