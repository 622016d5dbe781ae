import { Alert, Group, List, PasswordInput, SegmentedControl, Select, Stack, Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { Problem } from "../api/problem";
import { ProblemNote } from "../ui/ProblemNote";
import { adviceOn, type ConnectionFields, dsnOf, hostProblem, portProblem, tlsModes } from "./dsn";

/** ConnectionValues are a connection as it is typed: in fields, or as a URL. */
export type ConnectionValues = ConnectionFields & { by: "fields" | "url"; url: string };

export const emptyConnection: ConnectionValues = {
  by: "fields",
  url: "",
  host: "",
  port: "",
  user: "muster",
  password: "",
  database: "",
  tls: "prefer",
};

/** typedDsn is the connection string that was typed, in whichever way. */
export const typedDsn = (values: ConnectionValues) => (values.by === "url" ? values.url.trim() : dsnOf(values));

/** connectionProblems are those that need no server to be known. */
export function connectionProblems(values: ConnectionValues): Record<string, string> {
  if (values.by === "url") {
    return /^postgres(ql)?:\/\//.test(values.url.trim())
      ? {}
      : { url: "The URL must begin with postgres:// or postgresql://." };
  }
  const host = hostProblem(values.host);
  const port = portProblem(values.port);
  return {
    ...(host && { host }),
    ...(port && { port }),
    ...(values.user.trim() === "" && { user: "Enter the role that Muster signs in with." }),
  };
}

/** fieldOfDsn is the field that a refused connection is about. */
export function fieldOfDsn(problem: Problem, values: ConnectionValues): string {
  if (values.by === "url") return "url";
  return adviceOn(classOf(problem))?.field ?? "host";
}

const classOf = (problem: Problem) => String(problem.errors.find((e) => e.params)?.params?.class ?? "");

/** Connection asks for a PostgreSQL connection, in fields or as a URL. Its form holds ConnectionValues, among others. */
export function Connection<V extends ConnectionValues>({ form: given }: { form: UseFormReturnType<V> }) {
  // The names of V's own fields are all there; Mantine's paths of a type parameter cannot say so.
  const form = given as unknown as UseFormReturnType<ConnectionValues>;
  const { by } = form.getValues();
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text fw={500} size="sm" id="connection-by">
          Connection
        </Text>
        <SegmentedControl
          size="xs"
          aria-labelledby="connection-by"
          data={[
            { value: "fields", label: "Fields" },
            { value: "url", label: "URL" },
          ]}
          key={form.key("by")}
          {...form.getInputProps("by")}
        />
      </Group>
      {by === "url" ? (
        <TextInput
          label="Connection URL"
          placeholder="postgres://muster:password@db01:5432/postgres?sslmode=verify-full"
          description="Host, port, user, password, database and sslmode. Write characters like @ and # in the password as %40 and %23."
          autoComplete="off"
          spellCheck={false}
          withAsterisk
          key={form.key("url")}
          {...form.getInputProps("url")}
        />
      ) : (
        <Fields form={form} />
      )}
      <Text size="xs" c="dimmed">
        Muster tests the connection before it saves it, stores it encrypted, and never shows it again.
      </Text>
    </Stack>
  );
}

function Fields({ form }: { form: UseFormReturnType<ConnectionValues> }) {
  return (
    <>
      <Group align="flex-start" gap="sm">
        <TextInput
          label="Host"
          placeholder="db01.example.org"
          withAsterisk
          autoComplete="off"
          spellCheck={false}
          style={{ flex: "3 1 14rem" }}
          key={form.key("host")}
          {...form.getInputProps("host")}
        />
        <TextInput
          label="Port"
          placeholder="5432"
          inputMode="numeric"
          autoComplete="off"
          style={{ flex: "1 1 5rem" }}
          key={form.key("port")}
          {...form.getInputProps("port")}
        />
      </Group>
      <Group align="flex-start" gap="sm">
        <TextInput
          label="User"
          withAsterisk
          autoComplete="off"
          spellCheck={false}
          style={{ flex: "1 1 10rem" }}
          key={form.key("user")}
          {...form.getInputProps("user")}
        />
        <PasswordInput
          label="Password"
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": "Show the password" }}
          style={{ flex: "1 1 10rem" }}
          key={form.key("password")}
          {...form.getInputProps("password")}
        />
      </Group>
      <Group align="flex-start" gap="sm">
        <TextInput
          label="Database"
          placeholder="postgres"
          description="Muster connects here first, then to all other databases."
          autoComplete="off"
          spellCheck={false}
          style={{ flex: "1 1 10rem" }}
          key={form.key("database")}
          {...form.getInputProps("database")}
        />
        <Select
          label="TLS"
          description="Use verify-full if you can."
          data={tlsModes}
          allowDeselect={false}
          style={{ flex: "2 1 18rem" }}
          key={form.key("tls")}
          {...form.getInputProps("tls")}
        />
      </Group>
    </>
  );
}

/** ConnectionFailed says why a server was not reached, and what to do; other refusals as every page says them. */
export function ConnectionFailed({ error }: { error: unknown }) {
  const advice = error instanceof Problem && error.code === "connection_failed" ? adviceOn(classOf(error)) : null;
  if (!(error instanceof Problem) || !advice) return <ProblemNote error={error} />;
  return (
    <Alert color="red" role="alert" icon={<IconPlugConnectedX aria-hidden />} data-class={classOf(error)}>
      <Text fw={600} size="sm">
        {advice.title}
      </Text>
      <Text size="sm">{error.message}</Text>
      <List size="sm" mt="xs">
        {advice.steps.map((step) => (
          <List.Item key={step}>{step}</List.Item>
        ))}
      </List>
    </Alert>
  );
}
