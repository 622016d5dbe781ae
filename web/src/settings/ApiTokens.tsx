import { Button, Checkbox, Group, Modal, SimpleGrid, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { empty } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { api, client, type Schemas } from "../api/client";
import { queryClient } from "../api/queries";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { Confirm } from "./Confirm";
import { defaultExpiry, ExpiryChoice, expiryAfter } from "./expiry";
import { ListSkeleton } from "./ListTable";
import { scopes } from "./scopes";
import { TokenMade } from "./TokenMade";
import { type TokenRow, TokenTable } from "./TokenTable";

const changed = () => queryClient.invalidateQueries({ queryKey: ["get", "/api/v1/api-tokens"] });

/** ApiTokens are the reader's own: programs call the API with them in the reader's name. */
export function ApiTokens() {
  const tokens = api.useQuery("get", "/api/v1/api-tokens");
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<Schemas["ApiToken"] | null>(null);
  const [revoked, setRevoked] = useState<TokenRow | null>(null);
  return (
    <section aria-labelledby="api-tokens">
      <Group justify="space-between" mb="sm">
        <div>
          <Title order={2} id="api-tokens">
            Your API tokens
          </Title>
          <Text size="sm" c="dimmed">
            For programs that call the API on your behalf. A token is limited to its scopes and your role.
          </Text>
        </div>
        <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          New API token
        </Button>
      </Group>
      {tokens.isPending && <ListSkeleton rows={3} />}
      {tokens.isError && (
        <ProblemNote error={tokens.error} title="Tokens could not be loaded" onRetry={() => tokens.refetch()} />
      )}
      {tokens.data?.items.length === 0 && (
        <Panel>
          <EmptyState icon={<IconKey size={28} aria-hidden />} title="No API tokens">
            Create one for a program, script or notebook that reads from Muster.
          </EmptyState>
        </Panel>
      )}
      {tokens.data && tokens.data.items.length > 0 && (
        <TokenTable
          label="Your API tokens"
          reach="Scopes"
          tokens={tokens.data.items.map((token) => ({ ...token, reach: token.scopes.join(", ") }))}
          onRevoke={setRevoked}
        />
      )}
      {creating && (
        <NewApiToken
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
          example={`curl -H "Authorization: Bearer ${made.token}" ${location.origin}/api/v1/session`}
          onClose={() => setMade(null)}
        />
      )}
      {revoked && <Revoke token={revoked} onClose={() => setRevoked(null)} />}
    </section>
  );
}

const fields = { "#/name": "name", "#/scopes": "scopes", "#/expiresAt": "days" };

function NewApiToken({ onMade, onClose }: { onMade: (token: Schemas["ApiToken"]) => void; onClose: () => void }) {
  const { permissions } = useSession();
  const form = useForm({
    initialValues: { name: "", scopes: [] as string[], days: defaultExpiry },
    validate: {
      name: empty("a name"),
      scopes: (chosen) => (chosen.length === 0 ? "Choose at least one scope." : null),
    },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  return (
    <Modal opened size="lg" onClose={onClose} title="New API token" closeButtonProps={{ "aria-label": "Close" }}>
      <form
        noValidate
        onSubmit={onSubmit(async ({ name, scopes: chosen, days }) => {
          const { data } = await client.POST("/api/v1/api-tokens", {
            body: { name: name.trim(), scopes: chosen as Schemas["Scope"][], expiresAt: expiryAfter(days) },
          });
          await changed();
          if (data) onMade(data);
        })}
      >
        <Stack>
          <TextInput
            label="Name"
            description="Its purpose, and the program or machine that uses it."
            maxLength={200}
            data-autofocus
            {...form.getInputProps("name")}
          />
          <Checkbox.Group
            label="Scopes"
            description="Choose only what the program needs."
            {...form.getInputProps("scopes")}
          >
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" mt={6}>
              {scopes
                .filter(({ scope }) => permissions.includes(scope))
                .map(({ scope, may }) => (
                  <Checkbox key={scope} value={scope} label={may} description={scope} />
                ))}
            </SimpleGrid>
          </Checkbox.Group>
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
    mutationFn: () => client.DELETE("/api/v1/api-tokens/{tokenId}", { params: { path: { tokenId: token.id } } }),
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
      The token stops working at once and cannot be restored. It stays in the audit list.
    </Confirm>
  );
}
