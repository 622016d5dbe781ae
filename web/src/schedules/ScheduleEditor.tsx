import { Button, Grid, Group, Input, SegmentedControl, Stack, Switch, Text, TextInput, Title } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import type { ReactNode } from "react";
import { empty } from "../access/NewPassword";
import { useSubmission } from "../access/useSubmission";
import type { Schemas } from "../api/client";
import { kindName, kinds, reportKinds } from "../reports/kinds";
import { Recipients } from "../reports/RequestRecipients";
import { OneServer, Servers } from "../reports/RequestScope";
import { type FieldTexts, type Fill, maxInstances, missing } from "../reports/requestForm";
import { TeamSelect } from "../teams/TeamSelect";
import { useNarrow } from "../ui/narrow";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { noTag } from "../url/tagWords";
import { fillOf, pointers, recurrenceOf, type ScheduleForm, shared, withFill } from "./form";
import { NextDues } from "./NextDues";
import { WhenFields } from "./WhenFields";
import { whenText } from "./words";

/** ScheduleEditor is the form of a schedule, new or there already, beside it the next due times. onSend keeps it. */
export function ScheduleEditor({
  begun,
  owner,
  kindFixed = false,
  verb,
  cancel,
  onSend,
}: {
  begun: ScheduleForm;
  /** In whose name the reports are requested: always a recipient. */
  owner: Schemas["Person"];
  kindFixed?: boolean;
  verb: string;
  cancel: ReactNode;
  onSend: (form: ScheduleForm) => Promise<void>;
}) {
  const form = useForm<ScheduleForm>({
    initialValues: begun,
    validate: {
      name: empty("a name"),
      instanceIds: (ids, values) =>
        (ids?.length ?? 0) > maxInstances
          ? `A report can cover at most ${maxInstances} instances.`
          : values.tags
            ? null
            : missing(fillOf({ ...values, instanceIds: ids })),
      tags: (tags, values) => (tags ? (noTag(tags) ?? missing(fillOf(values))) : null),
      at: (at) => (at === "" ? "Enter a time." : null),
      timeZone: (zone) => (zone === "" ? "Choose a time zone." : null),
    },
  });
  const { onSubmit, running, note } = useSubmission(form, pointers);
  const fill = fillOf(form.values);
  const wrong = Object.fromEntries(shared.map((field) => [field, form.errors[field]])) as FieldTexts;
  const change = (next: Fill) => {
    for (const field of shared) if (next[field] !== fill[field]) form.clearFieldError(field);
    form.setValues(withFill(form.values, next));
  };
  const report = { fill, wrong, change };
  const narrow = useNarrow();
  const kind = reportKinds[form.values.kind];
  const next = <Next form={form.values} />;
  return (
    <Grid gap="md" maw={1120}>
      <Grid.Col span={{ base: 12, md: 7.5 }}>
        <Panel>
          <form onSubmit={onSubmit(onSend)} noValidate aria-label="Schedule">
            <Stack gap="lg">
              <TextInput label="Name" maxLength={200} {...form.getInputProps("name")} />
              <Input.Wrapper
                label="Report"
                labelElement="div"
                labelProps={{ id: "schedule-kind", display: "block" }}
                error={form.errors.kind}
              >
                {kindFixed ? (
                  <Text size="sm">{kindName(form.values.kind)}</Text>
                ) : (
                  <SegmentedControl
                    mt={6}
                    aria-labelledby="schedule-kind"
                    orientation={narrow ? "vertical" : "horizontal"}
                    data={kinds.map((value) => ({ value, label: kindName(value) }))}
                    value={form.values.kind}
                    onChange={(kind) =>
                      change({ ...fill, kind: kind as Fill["kind"], instanceIds: undefined, databaseId: null })
                    }
                  />
                )}
              </Input.Wrapper>
              {kind.oneInstance ? <OneServer {...report} /> : <Servers {...report} />}
              {kind.windowDays !== null && kind.windowDays > 1 && <WindowField form={form} />}
              <WhenFields form={form} />
              {narrow && next}
              <Recipients {...report} owner={owner} />
              <Teams form={form} />
              {kind.comparable && (
                <Switch
                  label="Only if the findings changed"
                  description="If the findings are those of the schedule’s last report, Muster builds no report and sends no e-mail. The due time is listed as unchanged."
                  disabled={form.values.perTeam}
                  checked={form.values.onlyIfChanged && !form.values.perTeam}
                  onChange={(event) => form.setFieldValue("onlyIfChanged", event.currentTarget.checked)}
                  error={form.errors.onlyIfChanged}
                />
              )}
              {note && <ProblemNote error={note} title="The schedule was not saved" />}
              <Group gap="sm">
                <Button type="submit" loading={running}>
                  {verb}
                </Button>
                {cancel}
              </Group>
            </Stack>
          </form>
        </Panel>
      </Grid.Col>
      {!narrow && (
        <Grid.Col span={{ base: 12, md: 4.5 }}>
          <Panel>{next}</Panel>
        </Grid.Col>
      )}
    </Grid>
  );
}

/** Teams chooses the teams that get the report, or one each. A report of one server has no part for each team. */
function Teams({ form }: { form: UseFormReturnType<ScheduleForm> }) {
  const { teamIds, perTeam, kind } = form.values;
  return (
    <>
      <TeamSelect
        label="Teams as recipients (optional)"
        none={perTeam ? "Every team" : "No team"}
        description={perTeam ? "Each gets its own report" : "All members of these teams at the due time"}
        value={teamIds}
        onChange={(ids) => form.setFieldValue("teamIds", ids)}
        error={form.errors.teamIds}
      />
      {!reportKinds[kind].oneInstance && (
        <Switch
          label="One report per team"
          description="Each team gets a report of its own servers within this scope, for its members and the recipients above. Without teams above, every team gets one."
          checked={perTeam}
          onChange={(event) => form.setFieldValue("perTeam", event.currentTarget.checked)}
          error={form.errors.perTeam}
        />
      )}
    </>
  );
}

/** Next is when the schedule would be due: beside the form, and on a phone below the fields that it follows. */
function Next({ form }: { form: ScheduleForm }) {
  const recurrence = recurrenceOf(form);
  return (
    <aside aria-labelledby="schedule-next">
      <Title order={2} id="schedule-next" mb={4}>
        Next due times
      </Title>
      {recurrence && (
        <Text size="sm" c="dimmed" mb="sm">
          {whenText(recurrence)}, {recurrence.timeZone}
        </Text>
      )}
      <NextDues recurrence={recurrence} />
      {recurrence?.timeZone !== "UTC" && (
        <Text size="xs" c="dimmed" mt="md">
          When clocks change, an hour that does not exist becomes the first moment after it, and an hour that comes
          twice counts once, the first time.
        </Text>
      )}
    </aside>
  );
}

function WindowField({ form }: { form: UseFormReturnType<ScheduleForm> }) {
  return (
    <Input.Wrapper
      label="Window"
      labelElement="div"
      labelProps={{ id: "schedule-window", display: "block" }}
      description="Ends when the report is due, or at the start of its day or month in the time zone"
      error={form.errors.window}
    >
      <SegmentedControl
        mt={6}
        aria-labelledby="schedule-window"
        data={[
          { value: "7d", label: "Past 7 days" },
          { value: "30d", label: "Past 30 days" },
          { value: "day", label: "The day before" },
          ...(reportKinds[form.values.kind].preview ? [{ value: "month", label: "The month before" }] : []),
        ]}
        value={form.values.window}
        onChange={(window) => form.setFieldValue("window", window as ScheduleForm["window"])}
      />
    </Input.Wrapper>
  );
}
