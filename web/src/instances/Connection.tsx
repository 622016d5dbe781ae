import {
  Alert,
  Button,
  Checkbox,
  Group,
  List,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { IconPlugConnectedX, IconServer2 } from "@tabler/icons-react";
import { Problem } from "../api/problem";
import { ProblemNote } from "../ui/ProblemNote";
import { adviceOn } from "./advice";
import { dsnOf, fieldProblems } from "./dsn";
import { type ConnectedEngine, type ConnectionFields, connectedEngine } from "./engines";
import { ServerLink } from "./ServerLink";

/** ConnectionValues are a connection as it is typed: in fields, or as a URL. */
export type ConnectionValues = ConnectionFields & { by: "fields" | "url"; url: string };

/** emptyConnection is one to an engine, before anything of it is typed. */
export const emptyConnection = (engine: string): ConnectionValues => ({
  engine,
  by: "fields",
  url: "",
  host: "",
  port: "",
  user: "muster",
  password: "",
  database: "",
  tls: connectedEngine(engine)?.usualTls ?? "",
  certificateName: "",
  readOnly: false,
  entra: false,
  namedBy: "service",
});

/** typedDsn is the connection string that was typed, in whichever way. */
export const typedDsn = (values: ConnectionValues) => (values.by === "url" ? values.url.trim() : dsnOf(values));

/** connectionProblems are those that need no server to be known. */
export function connectionProblems(values: ConnectionValues): Record<string, string> {
  if (values.by === "fields") return fieldProblems(values);
  const engine = connectedEngine(values.engine);
  return !engine || engine.scheme.test(values.url.trim()) ? {} : { url: `The URL must begin with ${engine.schemes}.` };
}

/** fieldOfDsn is the field that a refused connection is about. */
export function fieldOfDsn(problem: Problem, values: ConnectionValues): string {
  if (values.by === "url") return "url";
  return adviceOn(values.engine, classOf(problem))?.field ?? "host";
}

const classOf = (problem: Problem) => String(problem.errors.find((e) => e.params)?.params?.class ?? "");

/** Connection asks for a connection to its form's engine, in fields or as a URL. The form holds ConnectionValues, among others. */
export function Connection<V extends ConnectionValues>({ form: given }: { form: UseFormReturnType<V> }) {
  // The names of V's own fields are all there; Mantine's paths of a type parameter cannot say so.
  const form = given as unknown as UseFormReturnType<ConnectionValues>;
  const { by, engine } = form.getValues();
  const asked = connectedEngine(engine);
  if (!asked) return null;
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
          placeholder={asked.url}
          description={asked.urlHint}
          autoComplete="off"
          spellCheck={false}
          withAsterisk
          key={form.key("url")}
          {...form.getInputProps("url")}
        />
      ) : (
        <Fields form={form} asked={asked} />
      )}
      <Text size="xs" c="dimmed">
        Muster tests the connection before it saves it, stores it encrypted, and never shows it again.
      </Text>
    </Stack>
  );
}

function Fields({ form, asked }: { form: UseFormReturnType<ConnectionValues>; asked: ConnectedEngine }) {
  const { engine } = form.getValues();
  return (
    <>
      <Group align="flex-start" gap="sm">
        <TextInput
          label="Host"
          placeholder={engine === "sqlserver" ? "db01.example.org, or db01\\INSTANCE" : "db01.example.org"}
          withAsterisk
          autoComplete="off"
          spellCheck={false}
          style={{ flex: "3 1 14rem" }}
          key={form.key("host")}
          {...form.getInputProps("host")}
        />
        <TextInput
          label="Port"
          placeholder={asked.port}
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
          withAsterisk={engine === "oracle"}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": "Show the password" }}
          style={{ flex: "1 1 10rem" }}
          key={form.key("password")}
          {...form.getInputProps("password")}
        />
      </Group>
      {engine === "oracle" && (
        <SegmentedControl
          size="xs"
          aria-label="The database is named by"
          data={[
            { value: "service", label: "Service" },
            { value: "sid", label: "SID" },
          ]}
          style={{ alignSelf: "flex-start" }}
          key={form.key("namedBy")}
          {...form.getInputProps("namedBy")}
        />
      )}
      <Group align="flex-start" gap="sm">
        <TextInput
          {...asked.database}
          withAsterisk={engine === "oracle"}
          autoComplete="off"
          spellCheck={false}
          style={{ flex: "1 1 10rem" }}
          key={form.key("database")}
          {...form.getInputProps("database")}
        />
        <Select
          label="TLS"
          description={asked.tlsHint}
          data={asked.tls}
          allowDeselect={false}
          style={{ flex: "2 1 18rem" }}
          key={form.key("tls")}
          {...form.getInputProps("tls")}
        />
      </Group>
      {engine === "sqlserver" && <SqlServerFields form={form} />}
    </>
  );
}

function SqlServerFields({ form }: { form: UseFormReturnType<ConnectionValues> }) {
  return (
    <>
      <TextInput
        label="Name in the certificate"
        description="If it differs from the host."
        autoComplete="off"
        spellCheck={false}
        key={form.key("certificateName")}
        {...form.getInputProps("certificateName")}
      />
      <Checkbox
        label="A listener may lead to a readable secondary"
        key={form.key("readOnly")}
        {...form.getInputProps("readOnly", { type: "checkbox" })}
      />
      <Checkbox
        label="The user is an application of Microsoft Entra ID"
        description="client@tenant, with its secret as the password. A Windows account is DOMAIN\user."
        key={form.key("entra")}
        {...form.getInputProps("entra", { type: "checkbox" })}
      />
    </>
  );
}

/** ConnectionFailed says why a server was not reached, and what to do; other refusals as every page says them. */
export function ConnectionFailed({
  engine,
  error,
  onSeparate,
}: {
  engine: string;
  error: unknown;
  onSeparate: () => void;
}) {
  if (error instanceof Problem && error.code === "already_registered")
    return <AlreadyRegistered problem={error} onSeparate={onSeparate} />;
  const advice =
    error instanceof Problem && error.code === "connection_failed" ? adviceOn(engine, classOf(error)) : null;
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

/** AlreadyRegistered leads to the instance that has the server, or past it where somebody wants both. */
function AlreadyRegistered({ problem, onSeparate }: { problem: Problem; onSeparate: () => void }) {
  const { instanceId, instanceName } = problem.errors.find((e) => e.params)?.params ?? {};
  return (
    <Alert color="yellow" role="alert" icon={<IconServer2 aria-hidden />} data-already-registered>
      <Text fw={600} size="sm">
        This server is registered already
      </Text>
      <Text size="sm">
        The connection leads to the same server as{" "}
        <ServerLink id={String(instanceId)} name={String(instanceName)} inherit underline="always" />. Registered twice,
        it is counted twice: its connections, databases, findings and alerts.
      </Text>
      <Button variant="default" size="xs" mt="sm" onClick={onSeparate}>
        Register separately
      </Button>
    </Alert>
  );
}
