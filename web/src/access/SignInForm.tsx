import { Alert, Button, Code, Divider, Stack, Text, TextInput } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useRouterState } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { client, type Schemas } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import { plural } from "../ui/format";
import { PasswordField } from "../ui/PasswordField";
import { ProblemNote } from "../ui/ProblemNote";
import { entered, startOf } from "./entering";
import { keepsSessions, PlainHTTPRefusal } from "./plainHttp";

/**
 * SignInForm asks for e-mail address and password, and offers the identity providers. session is the anonymous one, which
 * says what there is to offer. email is who was signed in a moment ago. onSignedIn is called when the browser has a session again; sessionQuery knows it by then.
 */
export function SignInForm({
  session,
  email,
  onSignedIn,
}: {
  session: Schemas["Session"];
  email?: string;
  onSignedIn?: () => void;
}) {
  if (session.setupRequired) {
    return (
      <Text size="sm">
        Muster has no administrator yet. Open the one-time link that <Code>muster serve</Code> printed, or create one
        with <Code>muster setup-link</Code>.
      </Text>
    );
  }
  if (!keepsSessions()) return <PlainHTTPRefusal />;
  const providers = session.providers ?? [];
  const password = session.passwordLogin !== false;
  return (
    <Stack>
      {password && <PasswordForm known={email ?? ""} onSignedIn={onSignedIn} />}
      {password && providers.length > 0 && <Divider label="or" />}
      <Providers providers={providers} />
    </Stack>
  );
}

function Providers({ providers }: { providers: NonNullable<Schemas["Session"]["providers"]> }) {
  const path = useRouterState({ select: (s) => s.location.pathname });
  const query = useRouterState({ select: (s) => s.location.searchStr });
  return providers.map((provider) => (
    <Button key={provider.id} component="a" variant="default" href={startOf(provider.startUrl, path, query)}>
      Sign in with {provider.name}
    </Button>
  ));
}

function PasswordForm({ known, onSignedIn }: { known: string; onSignedIn?: () => void }) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState("");
  const [missing, setMissing] = useState<{ email?: string; password?: string }>({});
  const [refused, setRefused] = useState<Problem | null>(null);
  const [running, setRunning] = useState(false);
  const emailInput = useRef<HTMLInputElement>(null);
  const passwordInput = useRef<HTMLInputElement>(null);
  useEffect(() => (known ? passwordInput : emailInput).current?.focus(), [known]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (running) return;
    const lacks = {
      ...(email.trim() === "" && { email: "Enter your e-mail address." }),
      ...(password === "" && { password: "Enter your password." }),
    };
    setMissing(lacks);
    setRefused(null);
    if (lacks.email) return emailInput.current?.focus();
    if (lacks.password) return passwordInput.current?.focus();
    setRunning(true);
    try {
      await client.POST("/api/v1/session", { body: { email: email.trim(), password } });
      await entered("The password is correct");
      onSignedIn?.();
    } catch (error) {
      const problem = asProblem(error);
      setRefused(problem);
      setRunning(false);
      if (problem.code === "invalid_credentials") passwordInput.current?.select();
    }
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          ref={emailInput}
          label="E-mail address"
          type="email"
          autoComplete="username"
          maxLength={320}
          value={email}
          error={missing.email}
          onChange={(e) => setEmail(e.currentTarget.value)}
        />
        <PasswordField
          ref={passwordInput}
          label="Password"
          autoComplete="current-password"
          value={password}
          error={missing.password}
          onChange={(e) => setPassword(e.currentTarget.value)}
        />
        {refused && <Refused problem={refused} />}
        <Button type="submit" loading={running}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

function Refused({ problem }: { problem: Problem }) {
  if (problem.code === "invalid_credentials") {
    return (
      <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />} title="Wrong address or password">
        <Text size="sm">
          They do not match an active account. If you forgot your password, ask the person who runs Muster to reset it.
        </Text>
      </Alert>
    );
  }
  if (problem.code === "login_throttled") {
    return (
      <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />} title="Too many failed sign-ins">
        <Text size="sm">
          {problem.retryAfter === null
            ? "Try again in a few minutes."
            : `Try again in ${plural(problem.retryAfter, "second")}.`}
        </Text>
      </Alert>
    );
  }
  return <ProblemNote error={problem} />;
}

/** AccountHelp is where somebody without an account reads how they get one. */
export function AccountHelp() {
  return (
    <Text size="xs" c="dimmed" ta="center">
      No account? An administrator of your organization can invite you.
    </Text>
  );
}
