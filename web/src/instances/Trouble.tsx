import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { SeverityBadge as AlertSeverity } from "../alerts/badges";
import { api } from "../api/client";
import { SeverityBadge } from "../findings/badges";
import { upgradeOf } from "../findings/Groups";
import { kindName, kinds } from "../reports/kinds";
import { statusNames } from "../reports/status";
import { plural } from "../ui/format";
import { Time } from "../ui/Time";
import { Few } from "./Few";

const five = 5;

/** OpenAlerts are the worst that are open and not muted. */
export function OpenAlerts({ instanceId }: { instanceId: string }) {
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

/** WorstFindings are the checks that find the worst, each with what it finds. */
export function WorstFindings({ instanceId, assessed }: { instanceId: string; assessed: boolean }) {
  const asked = api.useQuery("get", "/api/v1/findings/groups", {
    params: { query: { instanceId: [instanceId], pageSize: five } },
  });
  return (
    <Few
      title="Worst findings"
      asked={asked}
      none={assessed ? "No finding is open." : "Not assessed: whether anything fails here is not known."}
      all={
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/findings" search={{ instanceId: [instanceId] }} {...props} />}
        >
          All findings
        </Anchor>
      }
    >
      {(asked.data?.items ?? []).map((g) => (
        <Group key={g.check?.id} gap="xs" wrap="nowrap" align="flex-start">
          <SeverityBadge severity={g.severity} />
          <div>
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link
                  to="/findings"
                  search={{ instanceId: [instanceId], checkId: [g.check?.id ?? ""], group: "none" } as never}
                  {...props}
                />
              )}
            >
              {g.check?.title}
            </Anchor>
            <Text size="xs" c="dimmed">
              {plural(g.findings, g.unit === "CVE" ? "CVE" : "finding")}
              {g.databases > 1 && ` in ${plural(g.databases, "database")}`}
              {upgradeOf(g) && `. ${upgradeOf(g)}`}
            </Text>
          </div>
        </Group>
      ))}
    </Few>
  );
}

/** LastReports are the newest that name the instance; reports of all active instances name none. */
export function LastReports({ instanceId }: { instanceId: string }) {
  const asked = api.useQuery("get", "/api/v1/reports", {
    params: { query: { kind: kinds, instanceId: [instanceId], pageSize: five } },
  });
  return (
    <Few
      title="Last reports"
      asked={asked}
      none="No report has been requested of this instance. Those of all active instances are in the history."
      all={
        <Anchor size="sm" renderRoot={(props) => <Link to="/reports/history" {...props} />}>
          All reports
        </Anchor>
      }
    >
      {(asked.data?.items ?? []).map((r) => (
        <Group key={r.id} gap="xs" justify="space-between" data-report={r.id}>
          <Anchor
            size="sm"
            renderRoot={(props) => <Link to="/reports/$reportId" params={{ reportId: r.id } as never} {...props} />}
          >
            {kindName(r.kind)}
          </Anchor>
          <Text size="xs" c="dimmed">
            {statusNames[r.status] ?? r.status} · <Time at={r.createdAt} relative />
          </Text>
        </Group>
      ))}
    </Few>
  );
}
