import { Button, Checkbox, Chip, Grid, Group, Input, MultiSelect, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { empty } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import { severityName } from "../alerts/badges";
import { api } from "../api/client";
import { asProblem } from "../api/problem";
import { engineName, engines } from "../engines";
import { ownScroll } from "../reports/requestChoices";
import { TagWords } from "../teams/TagWords";
import { TeamSelect } from "../teams/TeamSelect";
import { useNarrow } from "../ui/narrow";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { notifiedEvents, severities } from "../url/schemas";
import { noTag } from "../url/tagWords";
import { ChannelForm } from "./ChannelForm";
import { InstanceSelect } from "./InstanceSelect";
import { RulePreview } from "./RulePreview";
import { aboutServers, matchOf, pointers, type RuleForm } from "./ruleForm";
import { TimingFields } from "./TimingFields";
import { channelKindName, eventName } from "./words";

/** RuleEditor is the form of a rule, beside it what the rule would have matched. onSend keeps it. */
export function RuleEditor({
  begun,
  verb,
  onSend,
}: {
  begun: RuleForm;
  verb: string;
  onSend: (form: RuleForm) => Promise<void>;
}) {
  const form = useForm<RuleForm>({
    initialValues: begun,
    validate: {
      name: empty("a name"),
      tags: noTag,
      channelIds: (ids) => (ids.length === 0 ? "Choose at least one channel." : null),
      event: (events) => (events.length === 0 ? "Choose at least one event." : null),
      quietFrom: (from, { isQuiet }) => (isQuiet && from === "" ? "Enter a time." : null),
      quietTo: (to, { isQuiet, quietFrom }) =>
        isQuiet && to === "" ? "Enter a time." : isQuiet && to === quietFrom ? "Must differ from From." : null,
    },
  });
  const { onSubmit, running, note } = useSubmission(form, pointers);
  const alerts = aboutServers(form.values.event);
  const narrow = useNarrow();
  const preview = <RulePreview match={matchOf(form.values)} groupSeconds={Number(form.values.groupSeconds)} />;
  return (
    <Grid gap="md" maw={1180}>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Panel>
          <form onSubmit={onSubmit(onSend)} noValidate aria-label="Notification rule">
            <Stack gap="lg">
              <TextInput label="Name" maxLength={200} {...form.getInputProps("name")} />
              <Checkbox.Group label="Notify when" {...form.getInputProps("event")}>
                <Group gap="xs" mt={6} style={{ columnGap: 24 }}>
                  {notifiedEvents.map((event) => (
                    <Checkbox key={event} value={event} label={eventName(event)} />
                  ))}
                </Group>
              </Checkbox.Group>
              {alerts && (
                <Chips
                  label="Severity"
                  none="every severity"
                  error={form.errors.severity}
                  all={severities.map((value) => ({ value, label: severityName(value) }))}
                  chosen={form.values.severity}
                  onChange={(chosen) => form.setFieldValue("severity", chosen as RuleForm["severity"])}
                />
              )}
              {form.values.event.includes("finding.new") && (
                <Text size="xs" c="dimmed">
                  Critical findings count as critical, High as warning, and Medium and Low as info. Nothing is sent
                  about the first assessment of a server.
                </Text>
              )}
              {alerts && (
                <Chips
                  label="Engine"
                  none="every engine"
                  error={form.errors.engine}
                  all={engines.map((value) => ({ value, label: engineName(value) }))}
                  chosen={form.values.engine}
                  onChange={(chosen) => form.setFieldValue("engine", chosen as RuleForm["engine"])}
                />
              )}
              <InstanceSelect
                value={form.values.instanceIds}
                onChange={(ids) => form.setFieldValue("instanceIds", ids)}
                error={form.errors.instanceIds}
              />
              {alerts && (
                <TextInput
                  label="Instance name contains (optional)"
                  placeholder="prod"
                  maxLength={200}
                  {...form.getInputProps("nameContains")}
                />
              )}
              {alerts && (
                <>
                  <TagWords
                    label="Servers with tags (optional)"
                    value={form.values.tags}
                    onChange={(tags) => form.setFieldValue("tags", tags)}
                    error={form.errors.tags}
                  />
                  <TeamSelect
                    label="Servers owned by teams (optional)"
                    none="Every team, and servers without an owner"
                    value={form.values.teamIds}
                    onChange={(ids) => form.setFieldValue("teamIds", ids)}
                    error={form.errors.teamIds}
                  />
                </>
              )}
              <Channels
                value={form.values.channelIds}
                onChange={(ids) => form.setFieldValue("channelIds", ids)}
                error={form.errors.channelIds}
              />
              <TimingFields form={form} />
              {narrow && preview}
              {note && <ProblemNote error={note} title="The rule was not saved" />}
              <Group gap="sm">
                <Button type="submit" loading={running}>
                  {verb}
                </Button>
                <Button variant="default" renderRoot={(props) => <Link {...props} to="/notifications/rules" />}>
                  Cancel
                </Button>
              </Group>
            </Stack>
          </form>
        </Panel>
      </Grid.Col>
      {!narrow && (
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Panel>{preview}</Panel>
        </Grid.Col>
      )}
    </Grid>
  );
}

/** Chips chooses of a few; none is all, and says so. */
function Chips({
  label,
  none,
  all,
  chosen,
  onChange,
  error,
}: {
  label: string;
  none: string;
  all: { value: string; label: string }[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
  error: ReactNode;
}) {
  return (
    <Input.Wrapper
      label={label}
      labelElement="div"
      description={chosen.length === 0 ? `None selected: ${none}` : undefined}
      error={error}
    >
      <Chip.Group multiple value={chosen} onChange={onChange}>
        <Group gap="xs" mt={6} role="group" aria-label={label}>
          {all.map(({ value, label }) => (
            <Chip key={value} value={value} size="sm" variant="outline">
              {label}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </Input.Wrapper>
  );
}

/** Channels chooses through which channels a rule tells, and adds one in place, so that nothing of the form is lost. */
function Channels({
  value,
  onChange,
  error,
}: {
  value: string[];
  onChange: (ids: string[]) => void;
  error: ReactNode;
}) {
  const channels = api.useQuery("get", "/api/v1/channels");
  const [adding, add] = useState(false);
  const all = channels.data?.items ?? [];
  const known = new Set(all.map(({ id }) => id));
  // The only channel that there is needs no choosing.
  const only = all.length === 1 ? all[0]?.id : undefined;
  const offered = useRef(false);
  useEffect(() => {
    if (offered.current || channels.data === undefined) return;
    offered.current = true;
    if (only !== undefined && value.length === 0) onChange([only]);
  }, [channels.data, only, value, onChange]);
  return (
    <Group align="flex-end" gap="xs">
      <MultiSelect
        label="Channels"
        flex="1 1 220px"
        miw={0}
        {...ownScroll}
        description={channels.data && all.length === 0 ? "There are none yet." : "Each of them gets the notification."}
        placeholder={value.length === 0 ? "Choose channels" : undefined}
        data={[
          ...all.map((c) => ({ value: c.id, label: `${c.name} (${channelKindName(c.kind)})` })),
          ...value.filter((id) => !known.has(id)).map((id) => ({ value: id, label: "…" })),
        ]}
        value={value}
        onChange={onChange}
        maxValues={10}
        searchable
        nothingFoundMessage={channels.isPending ? "Loading…" : "No channel matches"}
        error={error ?? (channels.error && `Channels could not be loaded: ${asProblem(channels.error).message}`)}
      />
      <Button variant="default" style={{ flexShrink: 0 }} onClick={() => add(true)}>
        Add a channel
      </Button>
      {adding && (
        // React passes the dialog's events on to the form around it, which is not to be sent with it.
        <div onSubmit={(event) => event.stopPropagation()}>
          <ChannelForm channel={null} onClose={() => add(false)} onAdded={(id) => onChange([...value, id])} />
        </div>
      )}
    </Group>
  );
}
