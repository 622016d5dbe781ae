import { Anchor, Stack, Text, Title } from "@mantine/core";
import { IconExternalLink } from "@tabler/icons-react";
import type { Schemas } from "../api/client";
import { Panel } from "../ui/Panel";

/** References are where a check comes from, as links: the place, and the text that it is in. */
export function References({ of }: { of: Schemas["CheckReference"][] }) {
  if (of.length === 0) return null;
  return (
    <Panel>
      <Title order={2} mb="xs">
        References
      </Title>
      <Stack gap={8}>
        {of.map((r) => (
          <div key={`${r.version} ${r.id}`}>
            {r.url ? (
              <Anchor href={r.url} target="_blank" rel="noreferrer" size="sm" style={{ overflowWrap: "anywhere" }}>
                {r.id} <IconExternalLink size={14} aria-hidden style={{ verticalAlign: "-2px" }} />
                <span className="visually-hidden"> (opens in a new tab)</span>
              </Anchor>
            ) : (
              <Text size="sm">{r.id}</Text>
            )}
            <Text size="xs" c="dimmed">
              {r.version ?? r.source}
            </Text>
          </div>
        ))}
      </Stack>
    </Panel>
  );
}
