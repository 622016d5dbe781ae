import { Alert, Anchor, Button, Grid, Group, Input, SegmentedControl, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef } from "react";
import type { Problem } from "../api/problem";
import { useSession } from "../api/session";
import { TeamSelect } from "../teams/TeamSelect";
import { duration } from "../ui/format";
import { useNow } from "../ui/now";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { byCategory, type Kind, reportKinds } from "./kinds";
import { Recipients } from "./RequestRecipients";
import { RequestReused } from "./RequestReused";
import { OneServer, Servers } from "./RequestScope";
import { RequestSummary } from "./RequestSummary";
import { DateRange } from "./RequestWindow";
import { nameOr, useMemberChoices } from "./requestChoices";
import { useFill } from "./requestFill";
import { type Field, type Fill, fieldId, fieldOrder, missing, searchOf, withKind, wrongWith } from "./requestForm";
import { type Refusal, useSubmit } from "./requestSubmit";

/** RequestPage is the form that requests a report. Its address is the form: it can be shared filled in. */
export function RequestPage() {
  const { fill, change, left } = useFill();
  const { member, role } = useSession();
  const { named } = useMemberChoices("", fill.recipientIds);
  const nameOf = (id: string) => (id === member.id ? member.name : nameOr(named, id, "member"));
  const { submit, busy, refusal, forgive, reused, closeReused } = useSubmit(nameOf);
  const now = useNow(15_000);
  const own = wrongWith(fill, member.id, now);
  const wrong = { ...refusal?.fields, ...own };
  const lacking = missing(fill);
  const kind = reportKinds[fill.kind];
  const ready = lacking === null && Object.keys(own).length === 0;
  useFocusOnRefused(refusal);

  const edit = (next: Fill) => {
    forgive(...editedFields(fill, next));
    change(next);
  };
  const fields = { fill, wrong, change: edit };
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (ready) submit(fill);
  };
  return (
    <>
      <PageTitle
        title="Request a report"
        beta
        lead="The address contains your choices: share it to open the same form."
        actions={
          <>
            {role !== "team" && (
              <Anchor
                size="sm"
                renderRoot={(props) => <Link {...props} to="/schedules/new" search={scheduleSearchOf(fill)} />}
              >
                Schedule it
              </Anchor>
            )}
            <Anchor component={Link} to="/reports" size="sm">
              Catalog
            </Anchor>
          </>
        }
      />
      {left.length > 0 && (
        <Alert color="yellow" role="status" mb="md">
          This report does not use {left.join(", ")}; removed from the address.
        </Alert>
      )}
      <Grid gap="md" maw={1120}>
        <Grid.Col span={{ base: 12, md: 7.5 }}>
          <Panel>
            <form onSubmit={send} noValidate aria-label="Request a report">
              <Stack gap="lg">
                <KindField {...fields} />
                {kind.oneInstance ? <OneServer {...fields} /> : <Servers {...fields} />}
                {kind.windowDays !== null && <DateRange {...fields} />}
                <Recipients {...fields} />
                <TeamSelect
                  id={fieldId("teamIds")}
                  label="Teams as recipients (optional)"
                  none="No team"
                  description="All members of these teams at the time of the request"
                  value={fill.teamIds ?? []}
                  onChange={(teamIds) => edit({ ...fill, teamIds })}
                  error={wrong.teamIds}
                />
                {refusal && Object.keys(refusal.fields).length === 0 && <Refused refusal={refusal} />}
                <Group gap="sm">
                  <Button type="submit" loading={busy} disabled={!ready} aria-describedby="request-lacking">
                    Request report
                  </Button>
                  <Text size="sm" c="dimmed" id="request-lacking" role="status">
                    {lacking ?? (ready ? "" : "Correct the marked fields above.")}
                  </Text>
                </Group>
              </Stack>
            </form>
          </Panel>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4.5 }}>
          <RequestSummary fill={fill} now={now} />
        </Grid.Col>
      </Grid>
      <RequestReused requested={reused} nameOf={nameOf} onClose={closeReused} />
    </>
  );
}

/** scheduleSearchOf is the address of the form of a schedule for the same report: a window of its own has no place in one. */
function scheduleSearchOf(fill: Fill) {
  const { from: _from, to: _to, ...search } = searchOf(fill);
  return search;
}

type FieldProps = { fill: Fill; wrong: Partial<Record<Field, string>>; change: (next: Fill) => void };

function KindField({ fill, wrong, change }: FieldProps) {
  return (
    <Input.Wrapper
      label="Report"
      labelElement="div"
      labelProps={{ id: "request-kind-label", display: "block" }}
      description={reportKinds[fill.kind].card.description}
      descriptionProps={{ id: "request-kind-description" }}
      error={wrong.kind}
      errorProps={{ id: "request-kind-error" }}
      inputWrapperOrder={["label", "input", "description", "error"]}
    >
      <SegmentedControl
        my={6}
        id={fieldId("kind")}
        aria-labelledby="request-kind-label"
        aria-invalid={wrong.kind ? true : undefined}
        aria-describedby={wrong.kind ? "request-kind-error" : "request-kind-description"}
        data={byCategory.map((value) => ({ value, label: reportKinds[value].label }))}
        value={fill.kind}
        onChange={(kind) => change(withKind(fill, kind as Kind))}
      />
    </Input.Wrapper>
  );
}

/** Refused says what the server had against the request that belongs to no field, and when to ask again. */
function Refused({ refusal: { problem, rest } }: { refusal: Refusal }) {
  return (
    <ProblemNote error={problem} title="The report was not requested">
      {problem.errors.length > 0 &&
        rest.map((sentence) => (
          <Text key={sentence} size="sm">
            {sentence}
          </Text>
        ))}
      {problem.retryAfter !== null && <Text size="sm">Try again in {duration(problem.retryAfter * 1000)}.</Text>}
    </ProblemNote>
  );
}

/** editedFields are those in which two forms differ; a window chosen anew is both of its ends. */
function editedFields(was: Fill, is: Fill): Field[] {
  if (was.kind !== is.kind) return fieldOrder;
  const edited = fieldOrder.filter((field) => was[field] !== is[field]);
  return was.span === is.span ? edited : [...edited, "from", "to"];
}

/** useFocusOnRefused moves the focus to the first field that the server refused, once for each answer. */
function useFocusOnRefused(refusal: Refusal | null) {
  const told = useRef<Problem | null>(null);
  useEffect(() => {
    if (!refusal || told.current === refusal.problem) return;
    told.current = refusal.problem;
    const first = fieldOrder.find((field) => refusal.fields[field]);
    if (!first) return;
    const field =
      document.getElementById(fieldId(first)) ?? (first === "to" ? document.getElementById(fieldId("from")) : null);
    // A segmented control is a group: its chosen radio takes the focus.
    (field?.querySelector<HTMLElement>("input:checked") ?? field)?.focus();
  }, [refusal]);
}
