import { Button, Group, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { NewPassword, shortPassword } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { client } from "../api/client";
import { queryClient } from "../api/queries";
import { PasswordField } from "../ui/PasswordField";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";

const fields = { "#/currentPassword": "currentPassword", "#/newPassword": "newPassword" };

/** ChangePassword sets the reader's password anew, and so ends their sessions elsewhere. email is for password managers. */
export function ChangePassword({ email }: { email: string }) {
  const form = useForm({
    initialValues: { currentPassword: "", newPassword: "" },
    validate: {
      currentPassword: (value) => (value === "" ? "Enter your current password." : null),
      newPassword: shortPassword,
    },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  return (
    <form
      noValidate
      onSubmit={onSubmit(async (body) => {
        await client.POST("/api/v1/password", { body });
        form.reset();
        say("Your password was changed. Your other sessions have ended.");
        await queryClient.invalidateQueries({ queryKey: ["get", "/api/v1/sessions"] });
      })}
    >
      <Stack maw={420}>
        <input type="hidden" autoComplete="username" value={email} readOnly />
        <PasswordField
          label="Current password"
          autoComplete="current-password"
          name="the current password"
          {...form.getInputProps("currentPassword")}
        />
        <NewPassword label="New password" {...form.getInputProps("newPassword")} />
        <Text size="sm" c="dimmed">
          This ends your sessions in other browsers. API tokens stay valid.
        </Text>
        {note && <ProblemNote error={note} />}
        <Group>
          <Button type="submit" loading={running}>
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
