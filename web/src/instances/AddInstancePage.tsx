import { Alert, Anchor, Button, Grid, Group, Radio, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconInfoCircle } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Schemas } from "../api/client";
import { asProblem, fieldErrors } from "../api/problem";
import { engineName, engines } from "../engines";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { say } from "../ui/say";
import { Connection, ConnectionFailed, connectionProblems, emptyConnection, fieldOfDsn, typedDsn } from "./Connection";
import { connectedEngine } from "./engines";
import { FirstGrants } from "./FirstGrants";
import { idempotencyKeys } from "./idempotency";
import { MetLive } from "./MetLive";

const classifications: { value: Schemas["Classify"]; label: string; description: string }[] = [
  {
    value: "names",
    label: "By column names",
    description: "Muster classifies columns by their names and reads no rows.",
  },
  {
    value: "values",
    label: "By names and samples",
    description:
      "Muster reads up to 200 rows per table, classifies them in memory and keeps none. The account needs SELECT on the tables.",
  },
  { value: "off", label: "Off", description: "Data Inventory reports will list this instance as not classified." },
];

/** AddInstancePage registers a server that Muster itself assesses and measures. */
export function AddInstancePage() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [keyOf] = useState(idempotencyKeys);
  const form = useForm({
    initialValues: {
      name: "",
      classify: "names" as Schemas["Classify"],
      ...emptyConnection("postgresql"),
    },
    validate: (values) => ({
      ...(values.name.trim() === "" && { name: "Enter a name." }),
      ...connectionProblems(values),
    }),
  });
  const add = api.useMutation("post", "/api/v1/instances");
  // After the first one it is the dashboard that fills.
  const there = api.queryOptions("get", "/api/v1/instances", { params: { query: { pageSize: 1 } } });
  useQuery(there);
  /** The answer may come after the form was sent, and then tell of the one that was added. */
  const isFirst = async (added: Schemas["Instance"]) => {
    const { items, page } = await queries.ensureQueryData(there);
    return page.totalItems === 0 || (page.totalItems === 1 && items[0]?.id === added.id);
  };
  const values = form.getValues();
  const submit = (separate: boolean) =>
    form.onSubmit(
      (typed) => {
        const engine = typed.engine as Schemas["Engine"];
        const body = {
          name: typed.name.trim(),
          engine,
          classify: typed.classify,
          dsn: typedDsn(typed),
          ...(separate && { separate }),
        };
        add.mutate(
          { body, params: { header: { "Idempotency-Key": keyOf(body) } } },
          {
            onError: (error) => {
              const problem = asProblem(error);
              const sorted = fieldErrors(problem, {
                "#/name": "name",
                "#/engine": "engine",
                "#/classify": "classify",
                "#/dsn": fieldOfDsn(problem, typed),
              });
              form.setErrors(sorted.fields);
              focusFirst(sorted.fields);
            },
            onSuccess: async (added) => {
              const { queryKey } = api.queryOptions("get", "/api/v1/instances/{instanceId}", {
                params: { path: { instanceId: added.id } },
              });
              queries.setQueryData(queryKey, added);
              say(`${added.name} was added. Its first assessment is running.`);
              const first = await isFirst(added).catch(() => false);
              void queries.invalidateQueries({ queryKey: ["get", "/api/v1/instances"] });
              if (first) {
                await navigate({ to: "/", search: { range: "15m", instanceId: [added.id], refresh: "30s" } });
                return;
              }
              await navigate({ to: "/instances/$instanceId", params: { instanceId: added.id } });
            },
          },
        );
      },
      (errors) => focusFirst(errors),
    );
  /** What is typed of a connection stays; what only one engine has is its usual one, and what was refused is over. */
  const choose = (engine: string | null) => {
    if (!engine || engine === values.engine) return;
    const { tls, certificateName, readOnly, entra, namedBy } = emptyConnection(engine);
    form.setValues({ engine, tls, certificateName, readOnly, entra, namedBy });
    form.clearErrors();
    add.reset();
  };
  // Where the request failed for no field's sake, or for a connection's, it is said above the button.
  const collected = connectedEngine(values.engine) !== null;
  return (
    <>
      <PageTitle
        title="Add an instance"
        lead={
          <>
            Muster connects to the instance, assesses it and measures it. For instances that other tools report,{" "}
            <Anchor inherit underline="always" renderRoot={(props) => <Link to="/instances/connect" {...props} />}>
              connect an agent
            </Anchor>
            .
          </>
        }
      />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Panel>
            <form onSubmit={submit(false)} noValidate>
              <Stack>
                <TextInput
                  label="Name"
                  description="The name shown in lists and reports."
                  withAsterisk
                  maxLength={200}
                  autoComplete="off"
                  key={form.key("name")}
                  {...form.getInputProps("name")}
                />
                <Select
                  label="Engine"
                  data={engines.map((value) => ({ value, label: engineName(value) }))}
                  allowDeselect={false}
                  key={form.key("engine")}
                  {...form.getInputProps("engine")}
                  onChange={choose}
                />
                {collected ? (
                  <>
                    <MetLive engine={values.engine} />
                    <Connection form={form} />
                    <Radio.Group
                      label="Classification"
                      description="Which columns may hold personal or secret data, for the Data Inventory."
                      key={form.key("classify")}
                      {...form.getInputProps("classify")}
                    >
                      <Stack gap="xs" mt="xs">
                        {classifications.map((c) => (
                          <Radio key={c.value} {...c} />
                        ))}
                      </Stack>
                    </Radio.Group>
                    {add.error && (
                      <ConnectionFailed engine={values.engine} error={add.error} onSeparate={() => submit(true)()} />
                    )}
                    <Group justify="flex-end">
                      <Button variant="default" renderRoot={(props) => <Link to="/instances" {...props} />}>
                        Cancel
                      </Button>
                      <Button type="submit" loading={add.isPending}>
                        Test and add
                      </Button>
                    </Group>
                  </>
                ) : (
                  <Pushed engine={values.engine} />
                )}
              </Stack>
            </form>
          </Panel>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          {collected && (
            <FirstGrants
              key={values.engine}
              engine={values.engine}
              user={values.user}
              classify={values.classify}
              database={values.database}
            />
          )}
        </Grid.Col>
      </Grid>
    </>
  );
}

function Pushed({ engine }: { engine: string }) {
  return (
    <Alert variant="default" icon={<IconInfoCircle aria-hidden />}>
      Muster does not connect to {engineName(engine)} itself. You can push data about such instances from a script or
      another tool.{" "}
      <Anchor
        inherit
        underline="always"
        renderRoot={(props) => <Link to="/instances/connect" search={{ agent: "push" }} {...props} />}
      >
        How to push data
      </Anchor>
    </Alert>
  );
}

/** focusFirst goes to the first wrong field, once it is marked as wrong: some frames after it is known to be. */
function focusFirst(errors: Record<string, unknown>, frames = 30) {
  if (Object.keys(errors).length === 0 || frames === 0) return;
  requestAnimationFrame(() => {
    const wrong = document.querySelector<HTMLElement>('#main [aria-invalid="true"]');
    if (wrong) wrong.focus();
    else focusFirst(errors, frames - 1);
  });
}
