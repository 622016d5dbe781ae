import { TextInput } from "@mantine/core";
import type { ChannelKind, FieldsProps } from "./kind";

function RoutingKey({ form, channel }: FieldsProps) {
  return (
    <TextInput
      label="Routing key"
      description={
        channel
          ? "Leave it empty to keep the present one."
          : "The integration key of a service (Events API v2). It is stored encrypted and never shown again."
      }
      maxLength={200}
      autoComplete="off"
      spellCheck={false}
      {...form.getInputProps("secret")}
    />
  );
}

export const pagerduty: ChannelKind = {
  title: "PagerDuty",
  address: {
    description: "PagerDuty’s Events API: https://events.pagerduty.com, or https://events.eu.pagerduty.com in the EU.",
    placeholder: "https://events.pagerduty.com",
  },
  alertsOnly: true,
  Fields: RoutingKey,
  noSecret: (secret) =>
    /^[0-9A-Za-z]{32}$/.test(secret.trim()) ? null : "Enter the 32 letters and digits of an integration key.",
  body: ({ secret }) => (secret === "" ? {} : { secret: secret.trim() }),
};
