import { List, Stack, Text, Title } from "@mantine/core";
import { useSession } from "../api/session";
import { count, plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { useActiveCount } from "./requestChoices";
import { contents } from "./requestContents";
import { type Fill, recipientsOf, windowOf } from "./requestForm";

const utc = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** RequestSummary says what will happen when the form is sent, what the report covers, and what is in it. */
export function RequestSummary({ fill, now }: { fill: Fill; now: Date }) {
  const { member, organization } = useSession();
  const people = plural(recipientsOf(fill, member.id).length, "person", "people");
  return (
    <aside aria-labelledby="request-summary">
      <Panel>
        <Stack gap="md">
          <div>
            <Title order={2} id="request-summary" mb={4}>
              What will happen
            </Title>
            <Text size="sm">
              We build it in the background and e-mail a link to {people}; it stays downloadable for{" "}
              {plural(organization.reportRetentionDays, "day")}.
            </Text>
          </div>
          <div>
            <Title order={3} mb={4}>
              It covers
            </Title>
            <Covers fill={fill} now={now} />
          </div>
          <div>
            <Title order={3} mb={4}>
              In the report
            </Title>
            <List type="ordered" size="sm" spacing={2}>
              {contents[fill.kind].map((section) => (
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
  if (fill.kind !== "InstanceScorecard") {
    const chosen = fill.instanceIds?.length;
    if (chosen === 0) return <Text size="sm">No server yet.</Text>;
    return (
      <Text size="sm">
        {chosen !== undefined
          ? plural(chosen, "server")
          : fill.kind === "Security"
            ? `All ${active === undefined ? "" : `${count(active)} `}active servers`
            : "The whole organization"}
        , as of when it is built.
      </Text>
    );
  }
  const window = windowOf(fill, now);
  return (
    <Text size="sm">
      {fill.databaseId
        ? "One database of one server; what concerns the whole server counts, too."
        : "One server with all its databases."}
      {window && (
        <Text component="span" display="block" className="numbers">
          {utc.format(window.from)} – {fill.span === "custom" ? utc.format(window.to) : "now"} (UTC)
        </Text>
      )}
    </Text>
  );
}
