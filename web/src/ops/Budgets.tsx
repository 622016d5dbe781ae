import { Alert, Group, Progress, Table, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { count } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { fullness, nearShare, unitOf, usedUp, warningOf } from "./budgets";
import { ListPanel } from "./ListPanel";

type Budget = Schemas["Budget"];

const useBudgets = () => api.useQuery("get", "/api/v1/ops/budgets", {}, { ...usePolling(() => 15_000), staleTime: 0 });

/** Budgets is what the organization's senders may use, and what they used, by token. */
export function Budgets() {
  const { data, error, refetch } = useBudgets();
  if (error && !data) return <ProblemNote error={error} title="Budgets could not be loaded" onRetry={refetch} />;
  if (!data) return null;
  return (
    <>
      <Warnings budgets={data.items} />
      <ListPanel
        title="Budgets"
        about="Muster refuses calls that would exceed a budget with 429, and senders that keep their data send it later. Daily budgets restart at midnight UTC. The budgets of events and open alerts refuse no call that only resolves alerts."
        label="Budgets"
        columns={["Budget", "Used by", "Used", { label: "Limit", numbers: true }, "Restarts"]}
      >
        {data.items.flatMap((b) => [
          <Row key={b.name} budget={b} by="All senders" used={b.used} limit={b.limit} />,
          ...b.tokens.map((t) => (
            <Row
              key={`${b.name} ${t.tokenId}`}
              budget={b}
              by={t.token ?? "A deleted token"}
              used={t.used}
              limit={t.limit}
              ofToken
            />
          )),
        ])}
      </ListPanel>
    </>
  );
}

/** BudgetWarnings says which budgets are used up, or nearly; nothing where none is. */
export function BudgetWarnings() {
  const { data } = useBudgets();
  return data ? <Warnings budgets={data.items} /> : null;
}

function Warnings({ budgets }: { budgets: Budget[] }) {
  const lines = budgets.flatMap((b) => warningOf(b) ?? []);
  if (lines.length === 0) return null;
  const refused = budgets.some(usedUp);
  return (
    <Alert
      color={refused ? "red" : "yellow"}
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      title={refused ? "Muster refuses data because a budget is used up" : "A budget is nearly used up"}
      data-budgets={refused ? "used up" : "nearly"}
    >
      {lines.map((line) => (
        <Text size="sm" key={line}>
          {line}
        </Text>
      ))}
    </Alert>
  );
}

function Row(props: { budget: Budget; by: string; used: number; limit: number; ofToken?: boolean }) {
  const { budget: b, used, limit } = props;
  const share = fullness(used, limit);
  const unit = unitOf(b.name);
  return (
    <Table.Tr>
      <Table.Td>{props.ofToken ? <span className="visually-hidden">{unit.title}</span> : unit.title}</Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{props.ofToken ? <bdi>{props.by}</bdi> : props.by}</Table.Td>
      <Table.Td>
        <Group gap="xs" wrap="nowrap">
          <Progress
            value={share}
            size="sm"
            style={{ flex: "1 1 6rem", minWidth: "4rem" }}
            color={share >= 100 ? "red.6" : share >= nearShare ? "yellow.6" : undefined}
            aria-label={`${unit.title}, ${props.by}: ${share} % used`}
          />
          <Text size="sm" className="numbers" miw="8.5rem" style={{ whiteSpace: "nowrap" }}>
            {unit.amount(used)} ({count(share)} %)
          </Text>
        </Group>
      </Table.Td>
      <Table.Td ta="right" className="numbers">
        {unit.amount(limit)}
      </Table.Td>
      <Table.Td>{b.resetAt ? <Time at={b.resetAt} ahead /> : "When alerts are resolved"}</Table.Td>
    </Table.Tr>
  );
}
