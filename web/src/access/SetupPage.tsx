import { Anchor, Button, Center, Checkbox, Code, Group, Loader, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { api, client } from "../api/client";
import { queryClient } from "../api/queries";
import { ProblemNote } from "../ui/ProblemNote";
import { AccessFrame } from "./AccessFrame";
import { entered } from "./entering";
import { useFragmentToken } from "./fragment";
import { empty, NewPassword, noAddress, shortPassword } from "./NewPassword";
import { keepsSessions, PlainHTTPRefusal } from "./plainHttp";
import { useSubmission } from "./useSubmission";

/** SetupPage makes the first administrator, with the one-time link that the server printed. */
export function SetupPage() {
  const token = useFragmentToken();
  const setup = api.useQuery("get", "/api/v1/setup", {}, { staleTime: 0 });
  if (!keepsSessions()) {
    return (
      <AccessFrame title="Set up Muster">
        <PlainHTTPRefusal />
      </AccessFrame>
    );
  }
  if (setup.isPending) {
    return (
      <Center h="100vh">
        <Loader aria-label="Loading" />
      </Center>
    );
  }
  // Where it cannot be known, the form's own answer will tell.
  if (setup.data?.required === false) return <Closed />;
  if (setup.data?.demo && token !== "") return <EnterDemo token={token} />;
  return (
    <AccessFrame title="Set up Muster" lead={<About />}>
      {token === "" ? (
        <Text size="sm">
          Open the complete one-time link that Muster printed, or create another one with <Code>muster setup-link</Code>
          .
        </Text>
      ) : (
        <SetupForm token={token} there={setup.data} />
      )}
    </AccessFrame>
  );
}

function About(): ReactNode {
  return (
    <>
      Muster monitors your database instances and checks how they are configured. It shows the results on a dashboard
      and in reports that anyone can verify later.
    </>
  );
}

function Closed() {
  return (
    <AccessFrame title="Muster is set up">
      <Text size="sm">
        An administrator already exists.{" "}
        <Anchor component={Link} to="/" inherit>
          Sign in
        </Anchor>{" "}
        instead. If you have no account, ask an administrator for an invitation.
      </Text>
    </AccessFrame>
  );
}

/** enterDemo makes the administrator of a demo, whom nobody has to make up, with a password that nobody knows. */
async function enterDemo(token: string) {
  const secret = crypto.getRandomValues(new Uint8Array(24));
  await client.POST("/api/v1/setup", {
    body: {
      setupToken: token,
      organizationName: "Demo organization",
      name: "Demo administrator",
      email: "admin@demo.example",
      password: btoa(String.fromCharCode(...secret)),
      demo: true,
    },
  });
  queryClient.clear();
  await entered("The demo is open");
}

/** Links that are being followed: one works once, however often its page is rendered. */
const entering = new Map<string, Promise<void>>();

/** EnterDemo signs whoever opened the demo's link in: there is nothing to ask them. */
function EnterDemo({ token }: { token: string }) {
  const navigate = useNavigate();
  const [refused, setRefused] = useState<unknown>(null);
  useEffect(() => {
    const done = entering.get(token) ?? enterDemo(token);
    entering.set(token, done);
    done.then(() => navigate({ to: "/" }), setRefused);
  }, [token, navigate]);
  return (
    <AccessFrame title="Muster demo">
      {refused === null ? (
        <Group role="status">
          <Loader size="sm" aria-hidden />
          <Text size="sm">Signing in to the demo</Text>
        </Group>
      ) : (
        <Stack>
          <ProblemNote error={refused} title="You are not signed in" />
          <Text size="sm">
            The link works once, for 30 minutes after the start. <Code>muster setup-link</Code> prints another one.
          </Text>
        </Stack>
      )}
    </AccessFrame>
  );
}

const fields = {
  "#/organizationName": "organizationName",
  "#/name": "name",
  "#/email": "email",
  "#/password": "password",
};

/** SetupForm makes the administrator. An organization that is `there` already is renamed, and not filled. */
function SetupForm({
  token,
  there,
}: {
  token: string;
  there: { organizationExists: boolean; demo: boolean } | undefined;
}) {
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { organizationName: "", name: "", email: "", password: "", demo: false },
    validate: {
      organizationName: empty("the name of your organization"),
      name: empty("your name"),
      email: noAddress,
      password: shortPassword,
    },
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  return (
    <form
      noValidate
      onSubmit={onSubmit(async (values) => {
        await client.POST("/api/v1/setup", {
          body: {
            setupToken: token,
            organizationName: values.organizationName.trim(),
            name: values.name.trim(),
            email: values.email.trim(),
            password: values.password,
            demo: values.demo,
          },
        });
        queryClient.clear();
        await entered("Muster is set up");
        await navigate({ to: "/" });
      })}
    >
      <Stack>
        <Text size="sm">Create the first administrator. This link works only once.</Text>
        <TextInput
          label="Organization"
          autoComplete="organization"
          maxLength={200}
          autoFocus
          {...form.getInputProps("organizationName")}
        />
        <TextInput label="Your name" autoComplete="name" maxLength={200} {...form.getInputProps("name")} />
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="username"
          maxLength={320}
          {...form.getInputProps("email")}
        />
        <NewPassword {...form.getInputProps("password")} />
        {!there?.organizationExists && (
          <Checkbox
            label="Fill the organization with labelled demo data"
            description="Fourteen made-up instances with alerts, measurements and reports to explore. Demo data cannot be removed later."
            {...form.getInputProps("demo", { type: "checkbox" })}
          />
        )}
        {note && (
          <ProblemNote error={note}>
            {note.code === "setup_closed" && (
              <Anchor component={Link} to="/" size="sm">
                Go to sign-in
              </Anchor>
            )}
          </ProblemNote>
        )}
        <Button type="submit" loading={running}>
          Set up and sign in
        </Button>
      </Stack>
    </form>
  );
}
