import { Button, Code, Table, Text } from "@mantine/core";
import { IconClockOff } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Mark } from "../ui/Mark";
import { useNow } from "../ui/now";
import { Time } from "../ui/Time";
import { Day } from "./Day";
import { ListTable } from "./ListTable";

export type TokenRow = {
  id: string;
  name: string;
  prefix: string;
  reach: ReactNode;
  expiresAt: string;
  lastUsedAt: string | null;
  lastUsedIp: string | null;
};

/** TokenTable lists tokens by what is left of them: their beginning, their reach, their use. */
export function TokenTable({
  label,
  reach,
  tokens,
  onRevoke,
}: {
  label: string;
  /** The heading of what a token may do or write to. */
  reach: string;
  tokens: TokenRow[];
  onRevoke: (token: TokenRow) => void;
}) {
  const now = useNow(60_000);
  return (
    <ListTable label={label} minWidth={760} columns={["Name", "Prefix", reach, "Expires", "Last used", "(Actions)"]}>
      {tokens.map((token) => (
        <Table.Tr key={token.id}>
          <Table.Td fw={500}>{token.name}</Table.Td>
          <Table.Td>
            <Code>{token.prefix}…</Code>
          </Table.Td>
          <Table.Td maw={280}>{token.reach}</Table.Td>
          <Table.Td>
            {new Date(token.expiresAt) <= now ? (
              <Mark tone="bad" icon={<IconClockOff size={16} aria-hidden />}>
                Expired
              </Mark>
            ) : (
              <Day at={token.expiresAt} />
            )}
          </Table.Td>
          <Table.Td>
            {token.lastUsedAt ? <Time at={token.lastUsedAt} relative /> : "Never"}
            {token.lastUsedIp && (
              <Text size="xs" c="dimmed">
                from {token.lastUsedIp}
              </Text>
            )}
          </Table.Td>
          <Table.Td ta="right">
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Revoke ${token.name}`}
              onClick={() => onRevoke(token)}
            >
              Revoke
            </Button>
          </Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  );
}
