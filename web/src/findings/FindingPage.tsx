import { Anchor, Button, Grid, Group, SimpleGrid, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconClipboardOff, IconRefresh, IconShieldOff } from "@tabler/icons-react";
import { Link, useParams, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api } from "../api/client";
import { Problem } from "../api/problem";
import { useSession } from "../api/session";
import { ServerLink } from "../instances/ServerLink";
import { useInstance } from "../instances/useInstance";
import { Day } from "../settings/Day";
import { RequestException } from "../settings/RequestException";
import { EmptyState } from "../ui/EmptyState";
import { duration } from "../ui/format";
import { useNow } from "../ui/now";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { Trail } from "../ui/Trail";
import { SeverityBadge, StatusBadge } from "./badges";
import { Due, EditCharge, Ticket } from "./Charge";
import type { Finding } from "./FindingsPage";
import { References } from "./References";
import { Remedy } from "./Remedy";

/** FindingPage is one finding: what was measured, what mends it, how long it has been there, and what can be done. */
export function FindingPage() {
  const { findingId = "" } = useParams({ strict: false });
  const asked = api.useQuery("get", "/api/v1/findings/{findingId}", { params: { path: { findingId } } });
  if (asked.data) return <Shown finding={asked.data} onAssessed={asked.refetch} />;
  if (!asked.error) return <Loading />;
  // 400 is an address whose id is none.
  const unknown = (asked.error as unknown) instanceof Problem && [400, 404].includes(asked.error.status ?? 0);
  return (
    <>
      <Back />
      <PageTitle title="Finding" />
      {unknown ? (
        <Panel>
          <EmptyState
            icon={<IconShieldOff size={32} aria-hidden />}
            title="This finding does not exist, or belongs to another organization"
          >
            Findings that passed are kept for 400 days, those of a removed instance are not.
          </EmptyState>
        </Panel>
      ) : (
        <ProblemNote error={asked.error} title="The finding could not be loaded" onRetry={asked.refetch} />
      )}
    </>
  );
}

function Back({ children }: { children?: ReactNode }) {
  const list = useRouterState({ select: (s) => s.location.state.findings });
  return (
    <Trail to="/findings" name="Findings" search={list ?? {}}>
      {children ?? "Finding"}
    </Trail>
  );
}

function Loading() {
  return (
    <div role="status" aria-label="Loading the finding">
      <Skeleton height={20} width={160} mb="xs" />
      <Skeleton height={32} maw={420} mb={8} />
      <Skeleton height={24} width={180} mb="lg" />
      <Skeleton height={320} />
    </div>
  );
}

function Shown({ finding: f, onAssessed }: { finding: Finding; onAssessed: () => void }) {
  const { can } = useSession();
  const [asking, setAsking] = useState(false);
  const open = f.status === "open" || f.status === "accepted";
  return (
    <article>
      <Back>{f.check.id}</Back>
      <PageTitle
        title={f.check.title}
        lead={<Lead finding={f} />}
        actions={
          <>
            <AssessNow finding={f} onAssessed={onAssessed} />
            {open && f.mayAct && can("reports:create") && (
              <Button
                variant="default"
                leftSection={<IconClipboardOff size={16} aria-hidden />}
                onClick={() => setAsking(true)}
              >
                Request an exception
              </Button>
            )}
          </>
        }
      />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            <Evidence finding={f} />
            {f.remediation && <Remedy finding={f} remediation={f.remediation} />}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack gap="md">
            {f.exceptionId && <Accepted exceptionId={f.exceptionId} until={f.acceptedUntil} />}
            <InCharge finding={f} />
            <SinceWhen finding={f} />
            <References of={f.check.references} />
            <Panel>
              <Title order={2} mb="xs">
                The check
              </Title>
              <Stack gap={6}>
                <Anchor component={Link} to="/checks/$checkId" params={{ checkId: f.check.id } as never} size="sm">
                  What {f.check.id} looks at, and why
                </Anchor>
                <Anchor component={Link} to="/findings" search={{ checkId: [f.check.id] } as never} size="sm">
                  Everything that it finds
                </Anchor>
                <Anchor component={Link} to="/findings" search={{ instanceId: [f.instance.id] } as never} size="sm">
                  All findings on <bdi>{f.instance.name}</bdi>
                </Anchor>
              </Stack>
            </Panel>
          </Stack>
        </Grid.Col>
      </Grid>
      {asking && (
        <RequestException
          onClose={() => setAsking(false)}
          subject={{
            checkId: f.check.id,
            instanceId: f.instance.id,
            databaseId: f.database?.id ?? null,
            objectRef: f.object ?? "",
          }}
        />
      )}
    </article>
  );
}

function Lead({ finding: f }: { finding: Finding }) {
  return (
    <span style={{ display: "inline-flex", gap: 8, flexWrap: "wrap", alignItems: "center", marginTop: 4 }}>
      <SeverityBadge severity={f.check.severity} />
      <StatusBadge status={f.status} />
      <span style={{ overflowWrap: "anywhere" }}>
        {f.object && (
          <code>
            <bdi>{f.object}</bdi>
          </code>
        )}
        {f.object && " on "}
        <ServerLink id={f.instance.id} name={f.instance.name} inherit />
        {f.database && (
          <>
            {" · "}
            <bdi>{f.database.name}</bdi>
          </>
        )}
      </span>
    </span>
  );
}

/** Evidence stands before any prose: what was measured beside when the check passes. */
function Evidence({ finding: f }: { finding: Finding }) {
  return (
    <Panel>
      <Title order={2} mb="sm">
        {f.status === "notAssessed" ? "Reason" : "Evidence"}
      </Title>
      {f.reason && (
        <Text size="sm" mb="sm" style={{ overflowWrap: "anywhere" }}>
          {f.status === "accepted" && "Accepted: "}
          {f.status === "open" && "The last assessment did not look at it. "}
          {f.reason}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" component="dl" m={0}>
        <Side name="Measured by the check">{f.measured}</Side>
        <Side name="Passes when">{f.threshold}</Side>
        <Side name="Evidence">{f.evidence}</Side>
      </SimpleGrid>
    </Panel>
  );
}

function Side({ name, children }: { name: string; children: string | null }) {
  if (!children) return null;
  return (
    <div style={{ border: "1px solid var(--muster-line)", borderRadius: 6, padding: "8px 12px", minWidth: 0 }}>
      <Text component="dt" size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="dd" m={0} fw={550} size="sm" style={{ overflowWrap: "anywhere" }}>
        {children}
      </Text>
    </div>
  );
}

function SinceWhen({ finding: f }: { finding: Finding }) {
  const now = useNow(60_000);
  const end = f.passedSince ? Date.parse(f.passedSince) : now.getTime();
  const length = duration(Math.max(60_000, end - Date.parse(f.firstSeenAt)));
  return (
    <Panel>
      <Title order={2} mb="xs">
        Since when
      </Title>
      <dl style={{ margin: 0 }}>
        <Fact name={f.passedSince ? "Was open for" : "Open for"}>{length}</Fact>
        <Fact name="First seen">
          <Time at={f.firstSeenAt} />
        </Fact>
        <Fact name="Last seen">
          <Time at={f.lastSeenAt} />
        </Fact>
        {f.earlier && (
          <>
            <Fact name="First found">
              <Day at={f.earlier.firstSeenAt} />
            </Fact>
            <Fact name="Closed on">
              <Day at={f.earlier.closedAt} />
            </Fact>
            <Fact name="Came back on">
              <Day at={f.reopenedAt ?? f.firstSeenAt} />
            </Fact>
          </>
        )}
        {f.passedSince && (
          <Fact name="Passes since">
            <Time at={f.passedSince} />
          </Fact>
        )}
      </dl>
    </Panel>
  );
}

/** InCharge is who closes a finding, by when, and its ticket. */
function InCharge({ finding: f }: { finding: Finding }) {
  return (
    <Panel>
      <Group justify="space-between" mb="xs">
        <Title order={2}>In charge</Title>
        <EditCharge finding={f} />
      </Group>
      <dl style={{ margin: 0 }}>
        {f.dueAt && f.status !== "passed" && (
          <Fact name="Due">
            <Due finding={f} />
          </Fact>
        )}
        <Fact name="Assignee">{f.assigneeName ? <bdi>{f.assigneeName}</bdi> : "Nobody"}</Fact>
        <Fact name="Ticket">{f.ticketUrl ? <Ticket url={f.ticketUrl} /> : "None"}</Fact>
      </dl>
    </Panel>
  );
}

/** Accepted is the exception that covers a finding: until when, and who answers for it. */
function Accepted({ exceptionId, until }: { exceptionId: string; until: string | null }) {
  const { data: x } = api.useQuery("get", "/api/v1/exceptions/{exceptionId}", { params: { path: { exceptionId } } });
  return (
    <Panel>
      <Title order={2} mb="xs">
        Accepted
      </Title>
      <dl style={{ margin: 0 }}>
        {until && (
          <Fact name="Until">
            <Day at={until} /> (<Time at={until} ahead />)
          </Fact>
        )}
        {x && (
          <>
            <Fact name="Asked for by">{x.requestedBy.name || "Erased member"}</Fact>
            {x.decidedAt && <Fact name="Granted by">{x.decidedBy?.name || "Erased member"}</Fact>}
            {x.decidedAt && (
              <Fact name="Granted">
                <Day at={x.decidedAt} />
              </Fact>
            )}
          </>
        )}
      </dl>
      <Anchor component={Link} to="/exceptions" search={{ status: ["granted"] } as never} size="sm">
        All exceptions in force
      </Anchor>
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Group gap="xs" py={6} wrap="nowrap" align="baseline" fz="sm" justify="space-between">
      <Text component="dt" size="sm" c="dimmed" style={{ flex: "none" }}>
        {name}
      </Text>
      <dd className="numbers" style={{ margin: 0, minWidth: 0, overflowWrap: "anywhere" }}>
        {children}
      </dd>
    </Group>
  );
}

/** AssessNow has the instance looked at again, for an administrator where Muster itself assesses it. */
function AssessNow({ finding: f, onAssessed }: { finding: Finding; onAssessed: () => void }) {
  const enabled = useSession().can("admin");
  const { instance, assess, isAsking, isAssessing } = useInstance(f.instance.id, { enabled, onAssessed });
  if (!enabled || !instance?.collected || !instance.active) return null;
  return (
    <Button
      variant="default"
      leftSection={<IconRefresh size={16} aria-hidden />}
      loading={isAsking || isAssessing}
      onClick={assess}
    >
      Assess now
    </Button>
  );
}
