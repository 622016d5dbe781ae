import { Alert, Anchor, Button, Group, Loader, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconRefresh } from "@tabler/icons-react";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { asProblem } from "../api/problem";
import { useSession } from "../api/session";
import { ChangesOnCharts } from "../changes/ChangesOnCharts";
import { engineName } from "../engines";
import { InMaintenance } from "../maintenance/InMaintenance";
import { Owner } from "../teams/Owner";
import { EmptyState } from "../ui/EmptyState";
import { plural } from "../ui/format";
import { Mark } from "../ui/Mark";
import { NotAvailable } from "../ui/NotAvailable";
import { useNarrow } from "../ui/narrow";
import { useNow } from "../ui/now";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { useScope } from "../window/scope";
import { Agent } from "./Agent";
import { Answers } from "./Answers";
import { useWaits } from "./Charts";
import { Databases } from "./Databases";
import { Face } from "./Face";
import { Head } from "./Head";
import { InstanceActions } from "./InstanceActions";
import { NeverMet, untried } from "./MetLive";
import { MissingGrants } from "./MissingGrants";
import { awaited, type Instance, partlyMeasured, Standing } from "./standing";
import { Tags } from "./Tags";
import { useInstance } from "./useInstance";

/** InstancePage is one server: what is known of it, what it lacks, and what can be done with it. */
export function InstancePage() {
  const { instanceId } = useParams({ from: "/instances/$instanceId" });
  const session = useSession();
  const narrow = useNarrow(); // there, the state and the load are not pushed down by ways to other pages
  const now = useNow(10_000);
  useWaits(instanceId); // with the server, not after it: the load is what is looked at first
  const { instance: i, error, refetch, assess, isAsking, isAssessing } = useInstance(instanceId);
  if (error && !i) return <Unread error={error} onRetry={refetch} />;
  if (!i) return <Waiting />;
  const ways = <Ways instance={i} mayRequest={i.mayAct && session.can("reports:create")} />;
  const isAwaited = isAssessing || awaited(i);
  return (
    <>
      <PageTitle
        title={i.name}
        beside={<Standings instance={i} />}
        lead={<Where instance={i} />}
        actions={
          session.can("admin") && (
            <>
              {i.collected && i.active && (
                <Button
                  variant="default"
                  leftSection={<IconRefresh size={16} aria-hidden />}
                  loading={isAsking}
                  disabled={isAwaited}
                  onClick={assess}
                >
                  Assess now
                </Button>
              )}
              <InstanceActions instance={i} />
            </>
          )
        }
      />
      <Stack gap="lg">
        {isAwaited && <Assessing first={i.lastAssessedAt === null} />}
        {i.lastError && i.status !== "down" && (
          <Alert color="red" variant="outline" icon={<IconAlertTriangle aria-hidden />} data-last-error>
            <Text fw={600} size="sm">
              {i.agent ? "The agent" : "Muster"} cannot connect to this instance
            </Text>
            <Text size="sm">{i.lastError}</Text>
          </Alert>
        )}
        <NotAvailable missing={i.unavailable} />
        <InMaintenance instanceId={i.id} />
        {i.server && <Answers server={i.server} now={now} />}
        <Group justify="space-between" gap="sm">
          <Group gap="xs">
            <Text size="sm" span>
              Owner: <Owner owner={i.owner} />
            </Text>
            <Tags instance={i} />
          </Group>
          {!narrow && ways}
        </Group>
        <Changed instanceId={i.id}>
          <Head instance={i} />
          <Face instance={i}>
            {narrow && ways}
            <MissingGrants instance={i} />
            <Databases instanceId={i.id} known={i.databaseCount} />
            {i.agent && <Agent agent={i.agent} now={now} />}
            {(i.collected || i.agent) && <NeverMet engine={i.engine} version={i.version} />}
          </Face>
        </Changed>
      </Stack>
    </>
  );
}

/** Changed puts what changed on a server on its charts: those of the window, and that of its score, which goes back farther. */
function Changed({ instanceId, children }: { instanceId: string; children: ReactNode }) {
  const { window } = useScope();
  const kept = Date.parse(window.to) - 400 * 86_400_000;
  const from = new Date(Math.min(kept, Date.parse(window.from))).toISOString();
  return (
    <ChangesOnCharts from={from} to={window.to} servers={{ instanceId: [instanceId] }}>
      {children}
    </ChangesOnCharts>
  );
}

function Standings({ instance: i }: { instance: Instance }) {
  return (
    <>
      <Standing instance={i} />
      {partlyMeasured(i) && (
        <Mark tone="warning" icon={<IconAlertTriangle size={16} aria-hidden />}>
          measured in part
        </Mark>
      )}
    </>
  );
}

function Where({ instance: i }: { instance: Instance }) {
  const newer = untried(i.engine, i.version);
  return (
    <>
      <Anchor inherit underline="always" renderRoot={(props) => <Link to="/instances" {...props} />}>
        Instances
      </Anchor>
      {` · ${engineName(i.engine)}${i.version ? ` ${i.version}` : ""}${newer ? `, ${newer}` : ""}${i.host ? ` on ${i.host}` : ""} · ${plural(i.databaseCount, "database")} · registered `}
      <Time at={i.createdAt} />
    </>
  );
}

function Ways({ instance: i, mayRequest }: { instance: Instance; mayRequest: boolean }) {
  return (
    <Group gap="sm">
      <Button
        variant="default"
        size="xs"
        renderRoot={(props) => <Link to="/" search={{ instanceId: [i.id] }} {...props} />}
      >
        Dashboard for this instance
      </Button>
      <Button
        variant="default"
        size="xs"
        renderRoot={(props) => <Link to="/alerts" search={{ instanceId: [i.id] }} {...props} />}
      >
        Alerts for this instance
      </Button>
      {mayRequest && (
        <Button
          variant="default"
          size="xs"
          renderRoot={(props) => (
            <Link to="/reports/view" search={{ kind: "InstanceScorecard", instanceId: [i.id] }} {...props} />
          )}
        >
          Request a scorecard
        </Button>
      )}
    </Group>
  );
}

function Assessing({ first }: { first: boolean }) {
  return (
    <Panel>
      <Group gap="sm" wrap="nowrap" align="flex-start" role="status">
        <Loader size="sm" aria-hidden />
        <div>
          <Text fw={600} size="sm">
            {first ? "First assessment running" : "Assessment running"}
          </Text>
          <Text size="sm" c="dimmed">
            Muster checks settings, accounts and versions, and classifies every database. This takes a few seconds; the
            page updates by itself.
          </Text>
        </div>
      </Group>
    </Panel>
  );
}

function Unread({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (asProblem(error).status !== 404) {
    return (
      <>
        <PageTitle title="Instance" />
        <ProblemNote error={error} onRetry={onRetry} />
      </>
    );
  }
  return (
    <>
      <PageTitle title="Instance not found" />
      <EmptyState
        title="This instance does not exist"
        action={
          <Button variant="default" renderRoot={(props) => <Link to="/instances" {...props} />}>
            All instances
          </Button>
        }
      >
        It may have been removed. Its records stay in alerts, finished reports and the audit list.
      </EmptyState>
    </>
  );
}

function Waiting() {
  return (
    <div aria-busy>
      <Title order={1} className="visually-hidden">
        Instance
      </Title>
      <Skeleton height={32} width={280} mb="lg" />
      <Skeleton height={130} mb="lg" />
      <Skeleton height={220} />
    </div>
  );
}
