import { Anchor, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { Trail } from "../ui/Trail";
import { Evidence } from "./Evidence";
import { makesEvidence } from "./may";

/** backupControl is the control of backups, which is no check of the catalogue. */
export const backupControl = "BACKUP-RPO";

/** BackupControl says what the control of backups goes by, and makes its evidence. */
export function BackupControl() {
  const session = useSession();
  return (
    <article>
      <Trail to="/checks" name="Checks">
        {backupControl}
      </Trail>
      <PageTitle
        title="No backup of a database is older than its recovery point objective"
        lead="A control for servers of every engine. It goes by the backups that servers, agents and senders report."
      />
      <Panel>
        <Stack gap="md">
          <section>
            <Title order={2} mb={4}>
              Passes when
            </Title>
            <Text size="sm" maw="75ch">
              On a day (UTC), no database's newest backup became older than the recovery point objective (RPO) of its
              server. The RPO is the threshold of the{" "}
              <Anchor renderRoot={(props) => <Link to="/watch-rules" {...props} />}>watch rule</Anchor> about backups,
              by tag.
            </Text>
          </section>
          <section>
            <Title order={2} mb={4}>
              Not assessed
            </Title>
            <Text size="sm" maw="75ch">
              A day on which the age of one database's newest backup is not known. It does not count as passed.
            </Text>
          </section>
        </Stack>
      </Panel>
      {makesEvidence(session) && <Evidence check={backupControl} />}
    </article>
  );
}
