import { Anchor, Group, SimpleGrid, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { SeverityBadge as AlertSeverity } from "../alerts/badges";
import { api } from "../api/client";
import { SeverityBadge } from "../findings/badges";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";

type May = { alerts: boolean; findings: boolean; reports: boolean };

/** Trouble is what is wrong with an instance now, a few of each, and its last scorecards. */
export function Trouble({ instanceId, may }: { instanceId: string; may: May }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      {may.alerts && <OpenAlerts instanceId={instanceId} />}
      {may.findings && <WorstFindings instanceId={instanceId} />}
      {may.reports && <LastReports instanceId={instanceId} />}
    </SimpleGrid>
  );
}

type Asked = { data: unknown; error: unknown; refetch: () => unknown };

function Few({
  title,
  all,
  asked,
  none,
  children,
}: {
  title: string;
  all?: ReactNode;
  asked: Asked;
  none: string;
  children: ReactNode[];
}) {
  return (
    <Panel miw={0}>
      <Group justify="space-between" mb="sm">
        <Title order={2}>{title}</Title>
        {all}
      </Group>
      {Boolean(asked.error) && !asked.data && <ProblemNote error={asked.error} onRetry={asked.refetch} />}
      {!asked.data && !asked.error && <Skeleton height={100} />}
      {Boolean(asked.data) && children.length === 0 && (
        <Text size="sm" c="dimmed">
          {none}
        </Text>
      )}
      <Stack gap="xs">{children}</Stack>
    </Panel>
  );
}

const five = 5;

function OpenAlerts({ instanceId }: { instanceId: string }) {
  const asked = api.useQuery("get", "/api/v1/alerts", {
    params: {
      query: { instanceId: [instanceId], status: "open", muted: "exclude", sort: "-severity", pageSize: five },
    },
  });
  return (
    <Few
      title="Open alerts"
      asked={asked}
      none="No alert is open."
      all={
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/alerts" search={{ instanceId: [instanceId] }} {...props} />}
        >
          All alerts
        </Anchor>
      }
    >
      {(asked.data?.items ?? []).map((a) => (
        <Group key={a.id} gap="xs" wrap="nowrap" align="flex-start">
          <AlertSeverity severity={a.severity} />
          <div>
            <Anchor
              size="sm"
              renderRoot={(props) => <Link to="/alerts/$alertId" params={{ alertId: a.id } as never} {...props} />}
            >
              {a.title}
            </Anchor>
            <Text size="xs" c="dimmed">
              since <Time at={a.firstTriggeredAt} relative />
            </Text>
          </div>
        </Group>
      ))}
    </Few>
  );
}

function WorstFindings({ instanceId }: { instanceId: string }) {
  const asked = api.useQuery("get", "/api/v1/findings", {
    params: { query: { instanceId: [instanceId], pageSize: five } },
  });
  return (
    <Few
      title="Worst findings"
      asked={asked}
      none="No finding is open."
      all={
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/findings" search={{ instanceId: [instanceId] }} {...props} />}
        >
          All findings
        </Anchor>
      }
    >
      {(asked.data?.items ?? []).map((f) => (
        <Group key={f.id} gap="xs" wrap="nowrap" align="flex-start">
          <SeverityBadge severity={f.check.severity} />
          <div>
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link to="/findings/$findingId" params={{ findingId: f.id } as never} {...props} />
              )}
            >
              {f.check.title}
            </Anchor>
            <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              {[f.database?.name, f.object].filter(Boolean).join(" · ")}
            </Text>
          </div>
        </Group>
      ))}
    </Few>
  );
}

function LastReports({ instanceId }: { instanceId: string }) {
  const asked = api.useQuery("get", "/api/v1/reports", { params: { query: { kind: ["InstanceScorecard"] } } });
  const ours = (asked.data?.items ?? []).filter((r) => r.scope.instanceIds.includes(instanceId)).slice(0, five);
  return (
    <Few title="Last scorecards" asked={asked} none="None of the newest scorecards is about this instance.">
      {ours.map((r) => (
        <Group key={r.id} gap="xs" justify="space-between">
          <Anchor
            size="sm"
            renderRoot={(props) => <Link to="/reports/$reportId" params={{ reportId: r.id } as never} {...props} />}
          >
            {r.scopeLabel}
          </Anchor>
          <Text size="xs" c="dimmed">
            {r.status} · <Time at={r.createdAt} relative />
          </Text>
        </Group>
      ))}
    </Few>
  );
}
