import { Button, Center, Paper, PasswordInput, Stack, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import { client, type Schemas } from "../api/client";
import { askAgainWhoIsSignedIn } from "../api/queries";
import { ProblemNote } from "../ui/ProblemNote";

/** SignIn stands in the place of any page until somebody is signed in; the address stays what it is. */
export function SignIn({ session: _ }: { session: Schemas["Session"] }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>(null);
  return (
    <Center h="100vh" p="md">
      <Paper
        component="form"
        withBorder
        p="lg"
        w={360}
        onSubmit={async (event) => {
          event.preventDefault();
          try {
            await client.POST("/api/v1/session", { body: { email, password } });
            await askAgainWhoIsSignedIn();
          } catch (refused) {
            setError(refused);
          }
        }}
      >
        <Stack>
          <Title order={1}>Sign in</Title>
          {error !== null && <ProblemNote error={error} />}
          <TextInput
            label="E-mail address"
            type="email"
            autoComplete="username"
            value={email}
            onChange={(e) => setEmail(e.currentTarget.value)}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            value={password}
            onChange={(e) => setPassword(e.currentTarget.value)}
          />
          <Button type="submit">Sign in</Button>
        </Stack>
      </Paper>
    </Center>
  );
}
