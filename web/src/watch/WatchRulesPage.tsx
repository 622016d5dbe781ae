import { Anchor, Badge, Skeleton, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { severityName } from "../alerts/badges";
import { api } from "../api/client";
import { useSession } from "../api/session";
import { ListCard, ListCards } from "../settings/ListCards";
import { useNarrow } from "../ui/narrow";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { byGroup, isOn, type Rule, whenText } from "./lines";
import { RuleList } from "./RuleList";
import classes from "./watch.module.css";

/** WatchRulesPage is the catalogue of the built-in watch: what raises an alert. */
export function WatchRulesPage() {
  const asked = api.useQuery("get", "/api/v1/watch-rules");
  const narrow = useNarrow();
  const { can } = useSession();
  const rules = asked.data?.items;
  const on = rules?.filter(({ settings }) => isOn(settings)).length;
  return (
    <>
      <PageTitle
        title="Watch rules"
        lead={
          <>
            These rules raise alerts.{" "}
            {can("admin") ? (
              <Anchor component={Link} to="/notifications/rules" size="sm">
                Notifications
              </Anchor>
            ) : (
              "The notification rules"
            )}{" "}
            decide who receives them.{rules && ` ${rules.length} rules, ${on} on.`}
          </>
        }
      />
      {asked.error && (
        <ProblemNote error={asked.error} title="The rules could not be loaded" onRetry={() => asked.refetch()} />
      )}
      {asked.isPending && <Skeleton height={480} />}
      {rules && !narrow && <Table rules={rules} />}
      {rules && narrow && (
        <Panel p={4}>
          <RuleList rules={rules} />
        </Panel>
      )}
    </>
  );
}

/** Table has the rules in two columns of groups, with when each is raised. */
function Table({ rules }: { rules: Rule[] }) {
  return (
    <div className={classes.groups}>
      {byGroup(rules).map(([group, members]) => (
        <section key={group} className={classes.group} aria-label={group}>
          <Text fw={600} mb="xs">
            {group}
          </Text>
          <ListCards label={group}>
            {members.map((rule) => (
              <Card key={rule.id} rule={rule} />
            ))}
          </ListCards>
        </section>
      ))}
    </div>
  );
}

function Card({ rule }: { rule: Rule }) {
  const last = rule.settings.at(-1);
  const byTag = rule.settings.length - 1;
  return (
    <ListCard
      label={rule.name}
      title={
        <Anchor
          size="sm"
          fw={500}
          renderRoot={(props) => (
            <Link {...props} to="/watch-rules/$watchRule" params={{ watchRule: rule.id } as never} />
          )}
        >
          {rule.name}
        </Anchor>
      }
      mark={
        !isOn(rule.settings) && (
          <Badge variant="light" color="gray" size="sm" radius="sm">
            {rule.measured ? "Off" : "Not measured"}
          </Badge>
        )
      }
    >
      <Text size="xs" c="dimmed">
        {rule.watches}.{" "}
        {!rule.measured
          ? rule.unmeasuredReason
          : last?.enabled && `${severityName(last.severity)} ${whenText(rule, last)}.`}
        {byTag > 0 && ` ${byTag} more by tag.`}
      </Text>
    </ListCard>
  );
}
