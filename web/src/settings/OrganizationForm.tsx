import { Alert, Button, Group, NumberInput, Select, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconUsers } from "@tabler/icons-react";
import { useState } from "react";
import { useSubmission } from "../access/useSubmission";
import { client } from "../api/client";
import { Problem } from "../api/problem";
import { askAgainWhoIsSignedIn } from "../api/queries";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import type { Current } from "./OrganizationPage";
import {
  changesBetween,
  choices,
  dueDays,
  formOf,
  groups,
  outOfBounds,
  rebased,
  type Setting,
  type SettingsForm,
  settings,
  watched,
  written,
} from "./settingsForm";

const fields: Record<string, string> = Object.fromEntries(
  Object.keys(settings).map((setting) => {
    const severity = dueDays[setting as keyof typeof dueDays];
    if (severity) return [`#/dueDays/${severity}`, setting];
    return [(watched as string[]).includes(setting) ? `#/watch/${setting}` : `#/${setting}`, setting];
  }),
);

const names = Object.keys(settings) as Setting[];

/**
 * OrganizationForm changes the settings. A change is made from what was read: where somebody else has changed them since,
 * the server refuses it (412), and both are shown next to each other.
 */
export function OrganizationForm({ current, onReload }: { current: Current; onReload: () => Promise<Current> }) {
  const [base, setBase] = useState(current);
  const [theirs, setTheirs] = useState<Current | null>(null);
  const form = useForm<SettingsForm>({
    initialValues: current.form,
    validate: (values) => Object.fromEntries(names.map((name) => [name, outOfBounds(name, values[name])])),
  });
  const { onSubmit, running, note } = useSubmission(form, fields);
  const unchanged = changesBetween(base.form, form.values) === null;

  const saveOver = (from: Current) => async (values: SettingsForm) => {
    const body = changesBetween(from.form, values);
    if (body === null) return adopt(from);
    try {
      const { data, response } = await client.PATCH("/api/v1/organization", {
        params: { header: { "If-Match": from.etag } },
        body,
      });
      if (data) adopt({ form: formOf(data), etag: response.headers.get("ETag") ?? "*" });
      say("Settings saved.");
      await askAgainWhoIsSignedIn(); // the organization's name stands in the top bar
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 412) throw error;
      const reloaded = await onReload();
      setTheirs(reloaded);
      form.setValues(rebased(from.form, values, reloaded.form));
    }
  };
  const adopt = (saved: Current) => {
    setBase(saved);
    setTheirs(null);
    form.setValues(saved.form);
    form.clearErrors();
  };
  return (
    <form noValidate onSubmit={onSubmit(saveOver(base))}>
      <Stack>
        {groups.map((group) => (
          <Panel key={group.name}>
            <Title order={2} mb="sm">
              {group.name}
            </Title>
            <Stack>
              {group.of.map((setting) => (
                <Field key={setting} setting={setting} {...form.getInputProps(setting)} />
              ))}
            </Stack>
          </Panel>
        ))}
        {theirs && (
          <Conflict
            theirs={theirs.form}
            mine={form.values}
            busy={running}
            onTakeTheirs={() => adopt(theirs)}
            onSaveMine={onSubmit(saveOver(theirs))}
          />
        )}
        {note && <ProblemNote error={note} />}
        {!theirs && (
          <Group justify="flex-end">
            <Button variant="default" disabled={unchanged || running} onClick={() => adopt(base)}>
              Undo
            </Button>
            <Button type="submit" loading={running} disabled={unchanged}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}

function Field({ setting, ...input }: { setting: Setting } & Record<string, unknown>) {
  const { label, does, unit, min, max } = settings[setting];
  if (setting === "name") return <TextInput label={label} description={does} maxLength={200} {...input} />;
  if (setting === "protectedTags") return <TextInput label={label} description={does} {...input} />;
  const data = choices[setting];
  if (data) {
    return (
      <Select
        label={label}
        description={does}
        data={data}
        allowDeselect={false}
        styles={{ wrapper: { maxWidth: 240 } }}
        {...input}
      />
    );
  }
  return (
    <NumberInput
      label={label}
      description={does}
      suffix={unit ? ` ${unit}` : undefined}
      min={min}
      max={max}
      clampBehavior="none"
      allowDecimal={false}
      allowNegative={false}
      inputWrapperOrder={["label", "description", "input", "error"]}
      styles={{ input: { maxWidth: 240 }, wrapper: { maxWidth: 240 } }}
      {...input}
    />
  );
}

function Conflict({
  theirs,
  mine,
  busy,
  onTakeTheirs,
  onSaveMine,
}: {
  theirs: SettingsForm;
  mine: SettingsForm;
  busy: boolean;
  onTakeTheirs: () => void;
  onSaveMine: () => void;
}) {
  const different = names.filter((name) => String(theirs[name]).trim() !== String(mine[name]).trim());
  return (
    <Alert color="yellow" role="alert" icon={<IconUsers aria-hidden />} title="Someone else changed the settings">
      <Text size="sm">
        Your changes were not saved. {different.length === 0 ? "Their changes match yours." : "These settings differ:"}
      </Text>
      {different.length > 0 && (
        <Table mt="xs" verticalSpacing={4} aria-label="Different settings">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Setting</Table.Th>
              <Table.Th scope="col">Current value</Table.Th>
              <Table.Th scope="col">Yours</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {different.map((name) => (
              <Table.Tr key={name}>
                <Table.Th scope="row">{settings[name].label}</Table.Th>
                <Table.Td>{written(name, theirs[name])}</Table.Td>
                <Table.Td>{written(name, mine[name])}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Group mt="sm">
        <Button variant="default" size="xs" onClick={onTakeTheirs}>
          Use their values
        </Button>
        {different.length > 0 && (
          <Button size="xs" loading={busy} onClick={() => onSaveMine()}>
            Save my values
          </Button>
        )}
      </Group>
    </Alert>
  );
}
