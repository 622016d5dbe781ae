import { Anchor, Button, Collapse, Group, List, Modal, Skeleton, Stack, Text } from "@mantine/core";
import { IconArrowForwardUp, IconChevronDown, IconChevronRight, IconMailOff } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { RequestAgain } from "../reports/statusFile";
import { EmptyState } from "../ui/EmptyState";
import { plural } from "../ui/format";
import { Mark } from "../ui/Mark";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Snippet } from "../ui/Snippet";
import { say, sayProblem } from "../ui/say";
import { Time } from "../ui/Time";

type Letter = Schemas["DeadLetter"];

const jobs: Record<string, string> = {
  build: "Building a report",
  mail: "Mailing a recipient",
  expire: "Expiring a report",
  erase: "Deleting a file",
};

/** whatOf says what was set aside. */
const whatOf = (letter: Letter) =>
  letter.kind === "event"
    ? `An event that ${letter.source} cannot apply`
    : (jobs[letter.source] ?? `Job ${letter.source}`);

/** DeadLettersPage lists what was tried several times and set aside, to be tried again or dropped. */
export function DeadLettersPage() {
  const { data, error, isFetching, refetch } = api.useQuery(
    "get",
    "/api/v1/ops/dead-letters",
    {},
    { ...usePolling(() => 15_000), staleTime: 0 },
  );
  const [dropping, setDropping] = useState<{ letter: Letter; opened: boolean } | null>(null);
  const gone = () => {
    setDropping(null);
    void refetch();
  };
  return (
    <>
      <PageTitle
        title="Dead letters"
        lead="Events and jobs that failed repeatedly and were set aside so that others could continue. The build of a report is not retried, because its report has ended: request it again. Oldest first, at most 200."
      />
      {error && <ProblemNote error={error} title="Dead letters could not be loaded" onRetry={refetch} />}
      <div aria-busy={isFetching}>
        {!data && !error && <Skeleton height={120} />}
        {data?.items.length === 0 && (
          <Panel>
            <EmptyState icon={<IconMailOff size={28} aria-hidden />} title="No dead letters">
              Events and jobs appear here when all their attempts have failed.
            </EmptyState>
          </Panel>
        )}
        <Stack gap="sm">
          {data?.items.map((letter) => (
            <DeadLetter
              key={letter.id}
              letter={letter}
              onDrop={() => setDropping({ letter, opened: true })}
              onTried={() => void refetch()}
            />
          ))}
        </Stack>
      </div>
      {dropping && <Drop {...dropping} onClose={() => setDropping({ ...dropping, opened: false })} onDropped={gone} />}
    </>
  );
}

/** howEnded says how an attempt at a job ended. */
const howEnded: Record<string, string> = {
  failed: "failed",
  lost: "ended without a word from the worker, which died or lost the database",
  interrupted: "was cut off because the database was away or did not commit; it does not count",
  returned: "was given back because the worker was stopped; it does not count",
};

/** BuildAgain leads to the request form, filled in as the report was requested: a build that was set aside has ended it. */
function BuildAgain({ reportId }: { reportId: string }) {
  const { data } = api.useQuery("get", "/api/v1/reports/{reportId}", { params: { path: { reportId } } });
  return data ? <RequestAgain report={data} /> : null;
}

function DeadLetter({ letter, onDrop, onTried }: { letter: Letter; onDrop: () => void; onTried: () => void }) {
  const [open, setOpen] = useState(false);
  const details = useId();
  const retry = api.useMutation("post", "/api/v1/ops/dead-letters/{deadLetterId}/retry");
  const again = () =>
    retry.mutate(
      { params: { path: { deadLetterId: letter.id } } },
      {
        onSuccess: () => say("Muster will try it again."),
        onError: (error) => sayProblem(error, "It could not be retried"),
        onSettled: onTried,
      },
    );
  return (
    <Panel data-letter={letter.id}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <div style={{ flex: "1 1 24rem", minWidth: 0 }}>
          <Mark tone="bad" icon={<IconMailOff size={16} aria-hidden />}>
            {whatOf(letter)}
          </Mark>
          <Text size="sm" lineClamp={open ? undefined : 2} mt={2}>
            {letter.error}
          </Text>
          <Text size="xs" c="dimmed" mt={2}>
            {plural(letter.attempts, "attempt")}
            {letter.waiting > 0 && ` · ${plural(letter.waiting, "event")} wait behind it`}
            {letter.at && (
              <>
                {" · set aside "}
                <Time at={letter.at} relative />
              </>
            )}
          </Text>
        </div>
        <Group gap="xs">
          {letter.kind === "job" && letter.source === "build" ? (
            <BuildAgain reportId={letter.subject} />
          ) : (
            <Button
              size="xs"
              variant="default"
              loading={retry.isPending}
              leftSection={<IconArrowForwardUp size={14} aria-hidden />}
              onClick={again}
            >
              Retry
            </Button>
          )}
          <Button size="xs" variant="default" onClick={onDrop}>
            Drop
          </Button>
        </Group>
      </Group>
      <Button
        size="compact-sm"
        variant="subtle"
        mt={4}
        aria-expanded={open}
        aria-controls={details}
        onClick={() => setOpen(!open)}
        leftSection={open ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />}
      >
        Details
      </Button>
      <Collapse expanded={open} id={details}>
        <Stack gap="xs" pt="xs">
          <Text size="sm">
            {letter.kind === "event" ? "Stream" : "Subject"}:{" "}
            {letter.source === "build" ? (
              <Anchor
                inherit
                underline="always"
                renderRoot={(props) => (
                  <Link to="/reports/$reportId" params={{ reportId: letter.subject }} {...props} />
                )}
              >
                {letter.subject}
              </Anchor>
            ) : (
              letter.subject
            )}
          </Text>
          {letter.endings.length > 0 && (
            <List size="sm" type="ordered" listStyleType="none">
              {letter.endings.map((e) => (
                <List.Item key={e.at}>
                  <Time at={e.at} />: attempt {e.attempt} on {e.workerId} {howEnded[e.how] ?? e.how}
                  {e.error && `: ${e.error}`}
                </List.Item>
              ))}
            </List>
          )}
          {letter.kind === "event" && <Snippet label="Show the event" text={`muster dead show ${letter.id}`} wrapped />}
        </Stack>
      </Collapse>
    </Panel>
  );
}

function Drop({
  letter,
  opened,
  onClose,
  onDropped,
}: {
  letter: Letter;
  opened: boolean;
  onClose: () => void;
  onDropped: () => void;
}) {
  const drop = api.useMutation("delete", "/api/v1/ops/dead-letters/{deadLetterId}");
  const confirmed = () =>
    drop.mutate(
      { params: { path: { deadLetterId: letter.id } } },
      {
        onSuccess: () => {
          say("It was dropped.");
          onDropped();
        },
      },
    );
  return (
    <Modal opened={opened} onClose={onClose} title="Drop it permanently" closeButtonProps={{ "aria-label": "Close" }}>
      <Stack>
        <Text size="sm">
          {whatOf(letter)} will not be tried again.{" "}
          {letter.kind === "event"
            ? "Rebuilds skip the event, too, so this read model will lack it. The event log keeps it."
            : "Its work will not be done."}
        </Text>
        {drop.error && <ProblemNote error={drop.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red.9" loading={drop.isPending} onClick={confirmed}>
            Drop
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
