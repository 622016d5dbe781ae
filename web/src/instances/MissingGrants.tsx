import { Badge, Group, Stack, Text, Title } from "@mantine/core";
import type { Schemas } from "../api/client";
import { plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { Snippet } from "../ui/Snippet";

type Grant = Schemas["MissingGrant"];
export type Place = { database: string | null; statements: string[]; objects: string[]; checks: string[] };

/** ended closes a statement; what is said in a comment, where no statement would do, stays as it is. */
const ended = (statement: string) => (statement.startsWith("--") ? statement : `${statement.replace(/;$/, "")};`);

/** placesOf sorts grants by the database in which they are to be given; null is any. Those that nothing states are apart. */
export function placesOf(grants: Grant[]): Place[] {
  const places = new Map<string, Place>();
  for (const grant of grants) {
    const [, object = grant.object, database = null] = /^(.+) in database (.+)$/.exec(grant.object) ?? [];
    const statement = grant.statement.trim();
    const key = JSON.stringify([database, statement === ""]);
    const place = places.get(key) ?? { database, statements: [], objects: [], checks: [] };
    places.set(key, place);
    if (statement !== "" && !place.statements.includes(ended(statement))) place.statements.push(ended(statement));
    if (!place.objects.includes(object)) place.objects.push(object);
    place.checks = [...new Set([...place.checks, ...grant.checks])].sort();
  }
  return [...places.values()];
}

const runners: Record<string, string> = {
  postgresql: "a superuser",
  sqlserver: "a member of sysadmin",
  oracle: "an administrator",
};

/** MissingGrants are the statements that would let Muster read what it may not, and the checks that wait for them. */
export function MissingGrants({ grants, engine }: { grants: Grant[]; engine: string }) {
  const runner = runners[engine] ?? "an administrator";
  return (
    <Panel>
      <Title order={2}>{plural(grants.length, "missing grant")}</Title>
      <Text size="sm" c="dimmed" mt={4} mb="md" maw="70ch">
        Muster reports what it cannot read as not assessed, never as passed. Run this as {runner}; the next assessment
        will include the rest.
      </Text>
      <Stack gap="lg">
        {placesOf(grants).map((place) => (
          <div key={`${place.database ?? ""} ${place.statements.length > 0}`}>
            {place.statements.length > 0 && (
              <Snippet
                label={
                  place.database === null
                    ? `Run this as ${runner}`
                    : `Run this as ${runner} in database ${place.database}`
                }
                text={place.statements.join("\n")}
                wrapped
              />
            )}
            <Text size="sm" mt="xs">
              {place.statements.length > 0 ? "For" : "Muster states no grant for"} <bdi>{place.objects.join(", ")}</bdi>
              .
            </Text>
            {place.checks.length > 0 && (
              <Group gap={6} mt={6}>
                <Text size="sm">
                  {place.statements.length > 0 ? "Unlocks" : "Leaves without an answer"}{" "}
                  {plural(place.checks.length, "check")}:
                </Text>
                {place.checks.map((id) => (
                  <Badge key={id} variant="default" radius="sm" tt="none">
                    {id}
                  </Badge>
                ))}
              </Group>
            )}
          </div>
        ))}
      </Stack>
    </Panel>
  );
}
