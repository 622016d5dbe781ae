import { Text } from "@mantine/core";
import { OutboxNote } from "../OutboxNote";
import type { ChannelKind } from "./kind";

const Members = () => (
  <>
    <OutboxNote />
    <Text size="sm">
      Each event is mailed to the members of the team that owns its server. If no team owns the server, nobody is
      notified, and the delivery says so.
    </Text>
  </>
);

export const team: ChannelKind = {
  title: "Owning team",
  protocol: "SMTP",
  Fields: Members,
  body: () => ({}),
};
