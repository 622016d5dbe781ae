import { Button, Group, TextInput } from "@mantine/core";
import { Snippet } from "../../ui/Snippet";
import { newSecret, noSecret } from "../secret";
import type { ChannelKind, FieldsProps } from "./kind";

function Secret({ form, channel }: FieldsProps) {
  const { secret } = form.values;
  const generated = secret !== "" && noSecret(secret) === null;
  return (
    <>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          style={{ flex: 1 }}
          label="Secret"
          description={
            channel
              ? "Leave it empty to keep the present one."
              : "The receiver checks signatures with it. It is stored encrypted and never shown again."
          }
          placeholder="whsec_…"
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps("secret")}
        />
        <Button variant="default" onClick={() => form.setFieldValue("secret", newSecret())}>
          Generate
        </Button>
      </Group>
      {generated && <Snippet label="Secret for the receiver" text={secret} wrapped />}
    </>
  );
}

export const webhook: ChannelKind = {
  title: "Webhook",
  address: {
    description: "Muster posts a signed notification here (Standard Webhooks).",
    placeholder: "https://hooks.example.org/muster",
  },
  Fields: Secret,
  noSecret,
  body: ({ secret }) => (secret === "" ? {} : { secret: secret.trim() }),
};
