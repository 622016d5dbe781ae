import { Anchor, Stack, Text, Title } from "@mantine/core";
import { IconExternalLink } from "@tabler/icons-react";
import type { Schemas } from "../api/client";
import { Panel } from "../ui/Panel";

/** vendorOf is who made the engine of a check, by the check's id. */
const vendorOf = (checkId: string) => ({ MS: "Microsoft", OR: "Oracle" })[checkId.slice(0, 2)] ?? "PostgreSQL";

/** References are where a check comes from, as links. */
export function References({ references, checkId }: { references: Schemas["CheckReference"][]; checkId: string }) {
  if (references.length === 0) return null;
  return (
    <Panel>
      <Title order={2} mb="xs">
        References
      </Title>
      <Stack gap={8}>
        {references.map((r) => (
          <div key={`${r.source} ${r.id}`}>
            {r.url ? (
              <Anchor href={r.url} target="_blank" rel="noreferrer" size="sm" style={{ overflowWrap: "anywhere" }}>
                {r.id} <IconExternalLink size={14} aria-hidden style={{ verticalAlign: "-2px" }} />
                <span className="visually-hidden"> (opens in a new tab)</span>
              </Anchor>
            ) : (
              <Text size="sm">{r.id}</Text>
            )}
            <Text size="xs" c="dimmed">
              {[r.source === "vendor" ? vendorOf(checkId) : r.source, r.version].filter(Boolean).join(", ")}
            </Text>
          </div>
        ))}
      </Stack>
    </Panel>
  );
}
