import { Group, List, Table, Text } from "@mantine/core";
import { SeverityBadge } from "../alerts/badges";
import type { Schemas } from "../api/client";
import { SeverityBadge as FindingSeverity } from "../findings/badges";
import { reasonText } from "../schedules/words";
import { useNarrow } from "../ui/narrow";
import { Time } from "../ui/Time";
import { NoticeTitle } from "./marks";
import classes from "./notices.module.css";
import { eventName } from "./words";

type Notice = Schemas["Notice"];

/** NoticeTable is events as they are told. Where it has no more than a column it is tight, as it is on a phone. */
export function NoticeTable({ label, notices, tight = false }: { label: string; notices: Notice[]; tight?: boolean }) {
  const narrow = useNarrow();
  if (tight || narrow) return <NoticeList label={label} notices={notices} />;
  return (
    <Table.ScrollContainer type="native" minWidth={520} tabIndex={0} role="region" aria-label={label}>
      <Table verticalSpacing="xs" aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">When</Table.Th>
            <Table.Th scope="col">Event</Table.Th>
            <Table.Th scope="col">About</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {notices.map((notice) => (
            <Table.Tr key={notice.id} style={{ verticalAlign: "top" }}>
              <Table.Td>
                <Time at={notice.at} />
              </Table.Td>
              <Table.Td>
                {eventName(notice.type)}
                <Severity notice={notice} />
              </Table.Td>
              <Table.Td>
                <About notice={notice} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const NoticeList = ({ label, notices }: { label: string; notices: Notice[] }) => (
  <List listStyleType="none" size="sm" spacing="sm" aria-label={label} className={classes.notices}>
    {notices.map((notice) => (
      <List.Item key={notice.id}>
        <Group justify="space-between" gap="xs">
          <Text size="xs" c="dimmed" component="div">
            {eventName(notice.type)} · <Time at={notice.at} />
          </Text>
          <Severity notice={notice} />
        </Group>
        <About notice={notice} />
      </List.Item>
    ))}
  </List>
);

const Severity = ({ notice: { severity, findingSeverity } }: { notice: Notice }) =>
  severity && (
    <Text size="sm" component="div">
      {findingSeverity ? <FindingSeverity severity={findingSeverity} /> : <SeverityBadge severity={severity} />}
    </Text>
  );

const About = ({ notice }: { notice: Notice }) => (
  <>
    <NoticeTitle notice={notice} />
    {notice.instance && (
      <Text size="xs" c="dimmed">
        <bdi>{notice.instance.name}</bdi>
        {notice.owner && (
          <>
            {", owner "}
            <bdi>{notice.owner.name}</bdi>
          </>
        )}
      </Text>
    )}
    {notice.dueAt && (
      <Text size="xs" c="dimmed" component="div">
        due <Time at={notice.dueAt} />
      </Text>
    )}
    {notice.reason && (
      <Text size="xs" c="dimmed">
        {reasonText(notice.reason)}
      </Text>
    )}
  </>
);
