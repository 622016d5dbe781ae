import { Table, Text } from "@mantine/core";
import { SeverityBadge } from "../alerts/badges";
import type { Schemas } from "../api/client";
import { reasonText } from "../schedules/words";
import { Time } from "../ui/Time";
import { NoticeTitle } from "./marks";
import { eventName } from "./words";

/** NoticeTable is events as they are told. */
export function NoticeTable({ label, notices }: { label: string; notices: Schemas["Notice"][] }) {
  return (
    <Table.ScrollContainer type="native" minWidth={340} tabIndex={0} role="region" aria-label={label}>
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
                {notice.severity && (
                  <div>
                    <SeverityBadge severity={notice.severity} />
                  </div>
                )}
              </Table.Td>
              <Table.Td>
                <NoticeTitle notice={notice} />
                {notice.instance && (
                  <Text size="xs" c="dimmed">
                    <bdi>{notice.instance.name}</bdi>
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
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
