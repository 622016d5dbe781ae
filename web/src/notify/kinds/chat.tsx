import { Select } from "@mantine/core";
import type { Schemas } from "../../api/client";
import type { ChannelKind, FieldsProps } from "./kind";

function Format({ form }: FieldsProps) {
  return (
    <Select
      label="Format"
      description="Microsoft Teams takes neither: it has a kind of its own."
      data={[
        { value: "slack", label: "Slack, and chats that take its form" },
        { value: "mattermost", label: "Mattermost" },
      ]}
      allowDeselect={false}
      {...form.getInputProps("format")}
    />
  );
}

export const chat: ChannelKind = {
  title: "Chat",
  address: {
    description:
      "The incoming webhook of Slack, or of a chat that takes Slack’s form. The address is a secret and is not shown again.",
    placeholder: "https://hooks.slack.com/services/…",
  },
  hidesAddress: true,
  Fields: Format,
  body: ({ format }) => ({ format: format as Schemas["ChatFormat"] }),
};
