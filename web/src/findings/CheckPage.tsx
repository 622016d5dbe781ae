import { Button, Grid, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconListCheck } from "@tabler/icons-react";
import { Link, useParams } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { Problem } from "../api/problem";
import { useSession } from "../api/session";
import { engineName } from "../engines";
import { EmptyState } from "../ui/EmptyState";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Trail } from "../ui/Trail";
import { BackupControl, backupControl } from "./BackupControl";
import { SeverityBadge } from "./badges";
import { Evidence } from "./Evidence";
import { makesEvidence, readsFindings } from "./may";
import { References } from "./References";

/** CheckPage is one check of the catalogue, or the control of backups. */
export function CheckPage() {
  const { checkId = "" } = useParams({ strict: false });
  return checkId === backupControl ? <BackupControl /> : <OneCheck checkId={checkId} />;
}

/** OneCheck is what a check looks at, why, and what to do where it fails. */
function OneCheck({ checkId }: { checkId: string }) {
  const asked = api.useQuery("get", "/api/v1/checks/{checkId}", { params: { path: { checkId } } });
  if (asked.data) return <Shown check={asked.data} />;
  if (!asked.error) {
    return (
      <div role="status" aria-label="Loading the check">
        <Skeleton height={32} maw={420} mb="lg" />
        <Skeleton height={240} />
      </div>
    );
  }
  const unknown = (asked.error as unknown) instanceof Problem && [400, 404].includes(asked.error.status ?? 0);
  return (
    <>
      <Trail to="/checks" name="Checks">
        Check
      </Trail>
      <PageTitle title="Check" />
      {unknown ? (
        <Panel>
          <EmptyState icon={<IconListCheck size={32} aria-hidden />} title="This version of Muster has no such check" />
        </Panel>
      ) : (
        <ProblemNote error={asked.error} title="The check could not be loaded" onRetry={asked.refetch} />
      )}
    </>
  );
}

function Shown({ check }: { check: Schemas["Check"] }) {
  const session = useSession();
  const r = check.remediation;
  return (
    <article>
      <Trail to="/checks" name="Checks">
        {check.id}
      </Trail>
      <PageTitle
        title={check.title}
        lead={
          <span style={{ display: "inline-flex", gap: 8, flexWrap: "wrap", alignItems: "center", marginTop: 4 }}>
            <SeverityBadge severity={check.severity} />
            {engineName(check.engine)}, {check.domain}, looks{" "}
            {check.scope === "database" ? "at each database" : "once at each instance"}
          </span>
        }
        actions={
          readsFindings(session) && (
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/findings" search={{ checkId: [check.id] } as never} {...props} />}
            >
              Current findings
            </Button>
          )
        }
      />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Panel>
            <Stack gap="md">
              <Part title="Why it matters">{check.rationale}</Part>
              <Part title="Passes when">{check.threshold}</Part>
              <Part title="Remediation">
                {r.summary}
                {r.needsRestart && " The server has to be restarted."}
              </Part>
              {r.impact && <Part title="Side effects">{r.impact}</Part>}
              {check.reads.length > 0 && (
                <Part title="Data read">
                  <Lines of={check.reads} />
                </Part>
              )}
              {check.rights.length > 0 && (
                <Part title="Least privileges">
                  <Lines of={check.rights} />
                </Part>
              )}
              {check.object && (
                <Part title="Names of failed objects">
                  <Lines of={[check.object]} />
                </Part>
              )}
            </Stack>
          </Panel>
          {makesEvidence(session) && <Evidence check={check.id} />}
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <References of={check.references} />
        </Grid.Col>
      </Grid>
    </article>
  );
}

function Lines({ of }: { of: string[] }) {
  return of.map((line) => (
    <Text key={line} component="span" display="block" size="sm" style={{ overflowWrap: "anywhere" }}>
      {line}
    </Text>
  ));
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section>
      <Title order={2} mb={4}>
        {title}
      </Title>
      <Text size="sm" maw="75ch">
        {children}
      </Text>
    </section>
  );
}
