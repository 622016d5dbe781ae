import { Alert, Anchor, Button, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconMailOff } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client } from "../api/client";
import { Problem } from "../api/problem";
import { queryClient } from "../api/queries";
import { ProblemNote } from "../ui/ProblemNote";
import { AccessFrame } from "./AccessFrame";
import { entered } from "./entering";
import { useFragmentToken } from "./fragment";
import { empty, NewPassword, shortPassword } from "./NewPassword";
import { keepsSessions, PlainHTTPRefusal } from "./plainHttp";
import { useSubmission } from "./useSubmission";

/** InvitationPage is where the link of an invitation leads: the invited choose a name and a password, and are in. */
export function InvitationPage() {
  const token = useFragmentToken();
  const [gone, setGone] = useState(false);
  if (!keepsSessions()) {
    return (
      <AccessFrame title="Join">
        <PlainHTTPRefusal />
      </AccessFrame>
    );
  }
  if (token === "" || gone) {
    return (
      <AccessFrame title={gone ? "This invitation no longer works" : "Join"}>
        <Stack>
          {gone ? (
            <Gone />
          ) : (
            <Text size="sm">
              This link is incomplete: the part after the # is missing. Open the complete invitation link.
            </Text>
          )}
          <Anchor component={Link} to="/" size="sm">
            Go to sign-in
          </Anchor>
        </Stack>
      </AccessFrame>
    );
  }
  return (
    <AccessFrame
      title="Join"
      lead="Choose a name and a password. The invitation can be used once and is valid for 24 hours."
    >
      <JoinForm token={token} onGone={() => setGone(true)} />
    </AccessFrame>
  );
}

function Gone() {
  return (
    <Alert color="yellow" role="alert" icon={<IconMailOff aria-hidden />}>
      It was already used, is older than 24 hours, or was replaced by a newer one. Ask the administrator who invited you
      for a new link.
    </Alert>
  );
}

function JoinForm({ token, onGone }: { token: string; onGone: () => void }) {
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { name: "", password: "" },
    validate: { name: empty("your name"), password: shortPassword },
  });
  const { onSubmit, running, note } = useSubmission(form, { "#/name": "name", "#/password": "password" });
  const join = async ({ name, password }: { name: string; password: string }) => {
    try {
      await client.POST("/api/v1/invitations/{token}", {
        params: { path: { token } },
        body: { name: name.trim(), password },
      });
    } catch (error) {
      if (error instanceof Problem && error.status === 410) return onGone();
      throw error;
    }
    queryClient.clear(); // somebody else may have been signed in here
    await entered("You have joined");
    await navigate({ to: "/" });
  };
  return (
    <form onSubmit={onSubmit(join)} noValidate>
      <Stack>
        <TextInput
          label="Your name"
          autoComplete="name"
          maxLength={200}
          data-autofocus
          autoFocus
          {...form.getInputProps("name")}
        />
        <NewPassword {...form.getInputProps("password")} />
        {note && <ProblemNote error={note} />}
        <Button type="submit" loading={running}>
          Join and sign in
        </Button>
      </Stack>
    </form>
  );
}
