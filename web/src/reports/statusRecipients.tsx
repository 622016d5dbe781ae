import { Group, Table, Text } from "@mantine/core";
import { IconClock, IconMailCheck, IconMailX, IconMinus } from "@tabler/icons-react";
import type { Schemas } from "../api/client";
import { OutboxMark } from "../notify/marks";
import { Mark } from "../ui/Mark";
import { Time } from "../ui/Time";
import type { Report } from "./status";
import { ShowMail, useMails } from "./statusMails";

/** Recipients is who receives a report, and what became of each one's mail. */
export function Recipients({ report }: { report: Report }) {
  const mailed = useMails(report);
  return (
    <Table.ScrollContainer type="native" minWidth={480} tabIndex={0} role="region" aria-label="Recipients">
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Name</Table.Th>
            <Table.Th scope="col">E-mail</Table.Th>
            <Table.Th scope="col">Delivery</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {(report.recipients ?? []).map((recipient) => (
            <Table.Tr key={recipient.id} data-recipient={recipient.id}>
              <Table.Td>
                {recipient.name}
                {recipient.id === report.requester.id && (
                  <Text size="xs" c="dimmed">
                    requested it
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                {recipient.email ?? (
                  <Text c="dimmed" size="sm">
                    hidden from viewers
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Delivery recipient={recipient} report={report} />
                {mailed.has(recipient.id) && <ShowMail report={report} recipient={recipient} />}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Delivery is a recipient's mail: only a report that became Ready is mailed. */
function Delivery({ recipient, report }: { recipient: Schemas["Recipient"]; report: Report }) {
  const { delivery, smtpCode, sentAt } = recipient;
  const code = smtpCode !== null && (
    <Text span size="xs" c="dimmed">
      SMTP {smtpCode}
    </Text>
  );
  if (delivery === "sent" && smtpCode === null) return <OutboxMark />;
  if (delivery === "sent") {
    return (
      <Group gap={6}>
        <Mark tone="good" icon={<IconMailCheck size={16} aria-hidden />}>
          Sent
        </Mark>
        {sentAt && <Time at={sentAt} />}
        {code}
      </Group>
    );
  }
  if (delivery === "failed") {
    return (
      <Group gap={6}>
        <Mark tone="bad" icon={<IconMailX size={16} aria-hidden />}>
          Failed
        </Mark>
        {code}
      </Group>
    );
  }
  if (report.status === "Failed") {
    return (
      <Mark tone="quiet" icon={<IconMinus size={16} aria-hidden />}>
        Not sent
      </Mark>
    );
  }
  return (
    <Mark tone="quiet" icon={<IconClock size={16} aria-hidden />}>
      {report.status === "Ready" ? "To be sent" : "When ready"}
    </Mark>
  );
}
