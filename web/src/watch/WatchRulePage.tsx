import { Alert, Badge, Button, Grid, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconInfoCircle, IconPlus } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { SeverityBadge } from "../alerts/badges";
import { api, client } from "../api/client";
import { useSession } from "../api/session";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { Trail } from "../ui/Trail";
import { words } from "../url/tagWords";
import { LineFields, NeverRaised } from "./LineFields";
import { bodyOf, isOn, type Line, linesOf, more, moved, type Rule, restText, sameAs, whenText, wrong } from "./lines";
import { Preview } from "./Preview";
import { RuleList } from "./RuleList";

/** WatchRulePage is one rule: when it raises an alert, what it would have raised, its meaning and the response. */
export function WatchRulePage() {
  const { watchRule = "" } = useParams({ strict: false }) as { watchRule?: string };
  const asked = api.useQuery("get", "/api/v1/watch-rules");
  const rules = asked.data?.items;
  const rule = rules?.find(({ id }) => id === watchRule);
  return (
    <>
      <Trail to="/watch-rules" name="Watch rules">
        {rule?.name ?? "Rule"}
      </Trail>
      {asked.error && (
        <ProblemNote error={asked.error} title="The rule could not be loaded" onRetry={() => asked.refetch()} />
      )}
      {asked.isPending && <Skeleton height={480} />}
      {rules && (
        <Grid gap="md">
          <Grid.Col span={3} visibleFrom="lg">
            <Panel p={4}>
              <RuleList rules={rules} />
            </Panel>
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 9 }}>
            {rule ? <Shown key={`${rule.id} ${JSON.stringify(rule.settings)}`} rule={rule} /> : <Unknown />}
          </Grid.Col>
        </Grid>
      )}
    </>
  );
}

const Unknown = () => (
  <Panel>
    <Text>There is no such rule.</Text>
  </Panel>
);

function Shown({ rule }: { rule: Rule }) {
  const admin = useSession().can("admin");
  return (
    <>
      {admin ? (
        <Editor rule={rule} />
      ) : (
        <>
          <PageTitle title={rule.name} lead={`${rule.watches}.`} beside={!isOn(rule.settings) && <Off />} />
          <NotMeasured rule={rule} />
          <Panel mb="md">
            <Settings rule={rule} />
          </Panel>
        </>
      )}
      <Panel>
        <Title order={2} size="h4" mb="xs">
          Meaning
        </Title>
        <Text size="sm" maw="75ch" mb="md">
          {rule.meaning}
        </Text>
        <Title order={2} size="h4" mb="xs">
          Response
        </Title>
        <Text size="sm" maw="75ch">
          {rule.advice}
        </Text>
        {rule.sources !== null && (
          <Text size="xs" c="dimmed" mt="sm">
            Source: {rule.sources}.
          </Text>
        )}
      </Panel>
    </>
  );
}

const Off = () => (
  <Badge variant="light" color="gray" radius="sm">
    Off
  </Badge>
);

function NotMeasured({ rule }: { rule: Rule }) {
  if (rule.measured) return null;
  return (
    <Alert variant="outline" color="gray" mb="md" icon={<IconInfoCircle aria-hidden />}>
      {rule.unmeasuredReason} This rule watches nothing and cannot be switched on.
    </Alert>
  );
}

/** Settings are those of a rule for readers who may not change them. */
function Settings({ rule }: { rule: Rule }) {
  return (
    <Stack gap="xs">
      {rule.settings.map((s) => (
        <Group key={JSON.stringify(s.tags)} gap="sm">
          <Text size="sm" w={220}>
            {words(s.tags).join(", ") || restText(rule.settings.length)}
          </Text>
          {s.enabled ? (
            <>
              <Text size="sm">{whenText(rule, s)}</Text>
              <SeverityBadge severity={s.severity} />
            </>
          ) : (
            <NeverRaised />
          )}
        </Group>
      ))}
    </Stack>
  );
}

function Editor({ rule }: { rule: Rule }) {
  const [lines, setLines] = useState(() => linesOf(rule));
  const [said, setSaid] = useState(false);
  const queries = useQueryClient();
  const changed = !sameAs(lines, rule);
  const errors = wrong(lines, rule);
  const save = useMutation({
    mutationFn: () =>
      client.PUT("/api/v1/watch-rules/{watchRule}", { params: { path: { watchRule: rule.id } }, body: bodyOf(lines) }),
    onSuccess: async () => {
      say(`${rule.name} is saved.`);
      await queries.invalidateQueries();
    },
  });
  const change = (at: number, of: Partial<Line>) =>
    setLines(lines.map((line, i) => (i === at ? { ...line, ...of } : line)));
  const onSave = () => {
    setSaid(true);
    if (errors.size === 0) save.mutate();
  };
  const was = (line: Line, at: number) => {
    const before = lines.length === rule.settings.length ? rule.settings[at]?.threshold : undefined;
    return before !== undefined && before !== Number(line.threshold) ? before : undefined;
  };
  return (
    <>
      <PageTitle
        title={rule.name}
        lead={`${rule.watches}.`}
        beside={!isOn(lines) && <Off />}
        actions={
          rule.measured && (
            <>
              <Button variant="default" disabled={!changed} onClick={() => setLines(linesOf(rule))}>
                Discard
              </Button>
              <Button disabled={!changed} loading={save.isPending} onClick={onSave}>
                Save
              </Button>
            </>
          )
        }
      />
      <NotMeasured rule={rule} />
      {save.error && <ProblemNote error={save.error} title="The rule was not saved" />}
      {rule.measured && (
        <>
          <Panel mb="md">
            <Group justify="space-between" mb={4}>
              <Title order={2} size="h4">
                Conditions
              </Title>
              <Text size="sm" c="dimmed">
                The first setting that matches a server applies.{changed && " Not saved."}
              </Text>
            </Group>
            {lines.map((line, at) => (
              <LineFields
                key={line.key}
                rule={rule}
                line={line}
                was={was(line, at)}
                place={at}
                of={lines.length}
                error={said ? errors.get(line.key) : undefined}
                onChange={(of) => change(at, of)}
                onMove={(by) => setLines(moved(lines, at, by))}
                onRemove={() => setLines(lines.filter(({ key }) => key !== line.key))}
              />
            ))}
            <Button
              mt="xs"
              variant="subtle"
              size="compact-sm"
              leftSection={<IconPlus size={14} aria-hidden />}
              onClick={() => setLines(more(lines, rule))}
            >
              Add a setting for tags
            </Button>
          </Panel>
          <Panel mb="md">
            {errors.size === 0 ? (
              <Preview rule={rule} lines={lines} changed={changed} />
            ) : (
              <Text size="sm" c="dimmed">
                Complete every setting to see the preview.
              </Text>
            )}
          </Panel>
        </>
      )}
    </>
  );
}
