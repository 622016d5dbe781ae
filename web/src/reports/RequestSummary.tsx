import { List, Stack, Text, Title } from "@mantine/core";
import { useSession } from "../api/session";
import { count, plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { reportKinds } from "./kinds";
import { useActiveCount } from "./requestChoices";
import { type Fill, recipientsOf, windowOf } from "./requestForm";

const utc = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** RequestSummary says what will happen when the form is sent, what the report covers, and what is in it. */
export function RequestSummary({ fill, now }: { fill: Fill; now: Date }) {
  const { member, organization, mail } = useSession();
  const people =
    plural(recipientsOf(fill, member.id).length, "person", "people") +
    (fill.teamIds?.length ? ` and the members of ${plural(fill.teamIds.length, "team")}` : "");
  return (
    <aside aria-labelledby="request-summary">
      <Panel>
        <Stack gap="md">
          <div>
            <Title order={2} id="request-summary" mb={4}>
              What happens next
            </Title>
            <Text size="sm">
              Muster builds the report in the background
              {mail === "server"
                ? ` and e-mails a link to ${people}.`
                : `. No mail server is set: the e-mail to ${people} is kept in the outbox.`}{" "}
              The file can be downloaded for {plural(organization.reportRetentionDays, "day")}.
            </Text>
          </div>
          <div>
            <Title order={3} mb={4}>
              Coverage
            </Title>
            <Covers fill={fill} now={now} />
          </div>
          <div>
            <Title order={3} mb={4}>
              In the report
            </Title>
            <List type="ordered" size="sm" spacing={2}>
              {reportKinds[fill.kind].contents.map((section) => (
                <List.Item key={section}>{section}</List.Item>
              ))}
            </List>
          </div>
        </Stack>
      </Panel>
    </aside>
  );
}

function Covers({ fill, now }: { fill: Fill; now: Date }) {
  const active = useActiveCount();
  const kind = reportKinds[fill.kind];
  if (!kind.oneInstance) {
    const chosen = fill.instanceIds?.length;
    if (fill.tags) {
      return (
        <Text size="sm">
          {fill.tags.length > 0 ? `The active instances with ${fill.tags.join(", ")}` : "No instances yet"}.
        </Text>
      );
    }
    if (chosen === 0) return <Text size="sm">No instances yet.</Text>;
    return (
      <Text size="sm">
        {chosen !== undefined
          ? plural(chosen, "instance")
          : kind.activeOnly
            ? active === 1
              ? "The active instance"
              : `All ${active === undefined ? "" : `${count(active)} `}active instances`
            : "The whole organization"}
        , as of when it is built.
      </Text>
    );
  }
  const window = kind.windowDays !== null && windowOf(fill, now);
  return (
    <Text size="sm">
      {fill.databaseId
        ? "One database of one instance, including findings for the whole instance."
        : "One instance with all its databases."}
      {window && (
        <Text component="span" display="block" className="numbers">
          {utc.format(window.from)} – {fill.span === "custom" ? utc.format(window.to) : "now"} (UTC)
        </Text>
      )}
    </Text>
  );
}
