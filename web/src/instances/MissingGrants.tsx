import { Alert, Badge, Button, Group, Stack, Text, Title } from "@mantine/core";
import { api, type Schemas } from "../api/client";
import { useSession } from "../api/session";
import { count, plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { Snippet } from "../ui/Snippet";
import { say, sayProblem } from "../ui/say";
import { ServerLink } from "./ServerLink";
import type { Instance } from "./standing";
import { useKeep } from "./useKeep";

type Grant = Schemas["MissingGrant"];
/** What a grant is about, in all the databases that lack it. */
export type Subject = {
  subject: string;
  databases: string[];
  needed: boolean;
  reveals: string | null;
  declinable: boolean;
  stated: boolean;
  checks: string[];
};

/** subjectsOf puts together the grants that differ in their database alone. */
export function subjectsOf(grants: Grant[]): Subject[] {
  const subjects = new Map<string, Subject>();
  for (const grant of grants) {
    const [, subject = grant.object, database = null] = /^(.+) in database (.+)$/s.exec(grant.object) ?? [];
    const known = subjects.get(subject);
    const one = known ?? {
      subject,
      databases: [],
      needed: grant.needed,
      reveals: grant.reveals,
      declinable: grant.declinable,
      stated: false,
      checks: [],
    };
    if (!known) subjects.set(subject, one);
    if (database !== null && !one.databases.includes(database)) one.databases.push(database);
    one.stated ||= grant.statement !== "";
    one.checks = [...new Set([...one.checks, ...grant.checks])].sort();
  }
  return [...subjects.values()];
}

const instancePath = "/api/v1/instances/{instanceId}";

/** MissingGrants is what Muster may not read on a server: one script, and what each grant reveals. */
export function MissingGrants({ instance: i }: { instance: Instance }) {
  const session = useSession();
  const keep = useKeep(i.id);
  const change = api.useMutation("patch", instancePath);
  const decline = (declinedGrants: string[], done: string) =>
    change.mutate(
      { params: { path: { instanceId: i.id } }, body: { declinedGrants } },
      {
        onSuccess: (changed) => {
          keep(changed);
          say(done);
        },
        onError: (error) => sayProblem(error),
      },
    );
  const decides = session.can("admin");
  const subjects = subjectsOf(i.missingGrants);
  if (subjects.length === 0 && i.declinedGrants.length === 0) return null;
  return (
    <Panel data-missing-grants>
      <Title order={2}>
        {i.missingGrantCount === 0
          ? "Grants"
          : `${plural(i.neededGrantCount, "missing grant")}, ${count(i.missingGrantCount - i.neededGrantCount)} optional`}
      </Title>
      <Text size="sm" c="dimmed" mt={4} mb="md" maw="70ch">
        If Muster may not read something, it is not assessed, and never counts as passed. After you run the script, the
        next assessment includes the rest.
      </Text>
      <Stack gap="md">
        {i.grantOnPrimary && subjects.length > 0 && <OnPrimary primary={i.grantOnPrimary} />}
        {i.grantScript && <Snippet label="Script with all grants" text={i.grantScript} wrapped />}
        {i.grantScript && i.agent && (
          <Text size="sm">
            The script is for the account muster. If the agent signs in with another account, run muster agent check on
            the agent’s machine: it prints the statements for that account.
          </Text>
        )}
        {i.grantScript === null && subjects.length > 0 && (
          <Text size="sm">
            {i.agent
              ? "Run muster agent check on the agent's machine: it prints the statements."
              : "Muster has no statement for these."}
          </Text>
        )}
        {subjects.map((s) => (
          <SubjectRow
            key={s.subject}
            subject={s}
            onDecline={
              decides && s.declinable
                ? () => decline([...i.declinedGrants, s.subject], `Muster will not ask for ${s.subject} again.`)
                : undefined
            }
            busy={change.isPending}
          />
        ))}
        {i.declinedGrants.length > 0 && (
          <div>
            <Title order={3} size="h5" mb={6}>
              Declined
            </Title>
            <Text size="sm" c="dimmed" mb="xs">
              Muster does not ask for these. Checks that need them are not assessed: declined.
            </Text>
            <Stack gap={6}>
              {i.declinedGrants.map((object) => (
                <Group key={object} gap="sm" wrap="nowrap" justify="space-between">
                  <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                    <bdi>{object}</bdi>
                  </Text>
                  {decides && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      style={{ flex: "none" }}
                      disabled={change.isPending}
                      aria-label={`Ask again for ${object}`}
                      onClick={() =>
                        decline(
                          i.declinedGrants.filter((d) => d !== object),
                          `Muster asks for ${object} again.`,
                        )
                      }
                    >
                      Ask again
                    </Button>
                  )}
                </Group>
              ))}
            </Stack>
          </div>
        )}
      </Stack>
    </Panel>
  );
}

function OnPrimary({ primary }: { primary: Schemas["Primary"] }) {
  return (
    <Alert variant="outline" color="gray" title="This server is a standby">
      <Text size="sm">
        A standby takes no grants. Run the script on its primary
        {primary.instance ? (
          <>
            , <ServerLink id={primary.instance.id} name={primary.instance.name} inherit underline="always" />
          </>
        ) : (
          primary.address && ` (${primary.address})`
        )}
        . The standby has the grants as soon as it has replayed them.
      </Text>
    </Alert>
  );
}

const shownDatabases = 3;

function SubjectRow({ subject: s, onDecline, busy }: { subject: Subject; onDecline?: () => void; busy: boolean }) {
  const rest = s.databases.length - shownDatabases;
  return (
    <Group gap="sm" wrap="nowrap" justify="space-between" align="flex-start" data-grant={s.subject}>
      <div style={{ minWidth: 0 }}>
        <Group gap={6}>
          <Badge variant={s.needed ? "light" : "default"} radius="sm" tt="none">
            {s.needed ? "Needed" : "Optional"}
          </Badge>
          <Text size="sm" fw={550} style={{ overflowWrap: "anywhere" }}>
            <bdi>{s.subject}</bdi>
          </Text>
        </Group>
        {s.reveals && <Text size="sm">Reveals {s.reveals}.</Text>}
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {s.databases.length > 0 &&
            `In ${s.databases.slice(0, shownDatabases).join(", ")}${rest > 0 ? ` and ${plural(rest, "more database")}` : ""}. `}
          {s.checks.length > 0 && `For ${s.checks.join(", ")}. `}
          {!s.stated && "No statement grants only this."}
        </Text>
      </div>
      {onDecline && (
        <Button
          size="compact-sm"
          variant="default"
          style={{ flex: "none" }}
          disabled={busy}
          aria-label={`Decline ${s.subject}`}
          onClick={onDecline}
        >
          Decline
        </Button>
      )}
    </Group>
  );
}
