import { Button, Skeleton, Text, UnstyledButton } from "@mantine/core";
import { IconArrowLeft, IconMail } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { asProblem } from "../api/problem";
import { Letter } from "../mail/Letter";
import classes from "../mail/mail.module.css";
import { EmptyState } from "../ui/EmptyState";
import { bytes, plural } from "../ui/format";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";

/** OutboxPage shows the mails that were written to files because no mail server is set. */
export function OutboxPage() {
  const { mailId }: { mailId?: string } = useSearch({ from: "/ops/outbox" });
  const navigate = useNavigate({ from: "/ops/outbox" });
  const open = (id?: string) => navigate({ search: { mailId: id } });
  return (
    <>
      <PageTitle
        title="Outbox"
        lead="E-mails that Muster kept because no mail server is configured. Newest first, at most 200."
        actions={
          mailId && (
            <Button
              variant="default"
              size="xs"
              leftSection={<IconArrowLeft size={14} aria-hidden />}
              onClick={() => open()}
            >
              All e-mails
            </Button>
          )
        }
      />
      {mailId ? <Mail key={mailId} id={mailId} /> : <List onOpen={open} />}
    </>
  );
}

function List({ onOpen }: { onOpen: (id: string) => void }) {
  const { data, error, isFetching, refetch } = api.useQuery(
    "get",
    "/api/v1/ops/outbox",
    {},
    { ...usePolling(() => 15_000), staleTime: 0 },
  );
  if (error && !data) return <ProblemNote error={error} title="The outbox could not be loaded" onRetry={refetch} />;
  if (!data) return <Skeleton height={240} />;
  if (data.items.length === 0) {
    return (
      <Panel>
        <EmptyState icon={<IconMail size={28} aria-hidden />} title="No e-mails">
          If a mail server is configured, e-mails go there and none is kept. Otherwise the next report e-mail appears
          here.
        </EmptyState>
      </Panel>
    );
  }
  return (
    <Panel p={0} aria-busy={isFetching}>
      <Text size="sm" c="dimmed" px="md" pt="sm">
        {plural(data.items.length, "mail")}
      </Text>
      <ul className={classes.list}>
        {data.items.map((mail) => (
          <li key={mail.id}>
            <Row mail={mail} onOpen={() => onOpen(mail.id)} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Row({ mail, onOpen }: { mail: Schemas["OutboxEntry"]; onOpen: () => void }) {
  return (
    <UnstyledButton className={classes.row} onClick={onOpen}>
      <IconMail size={18} aria-hidden />
      <div className={classes.what}>
        <Text size="sm" fw={600}>
          {mail.subject}
        </Text>
        <Text size="xs" c="dimmed">
          to {mail.to}
        </Text>
      </div>
      <Text size="xs" c="dimmed" className={classes.when} component="div">
        <Time at={mail.createdAt} relative />
        <div className="numbers">{bytes(mail.sizeBytes)}</div>
      </Text>
    </UnstyledButton>
  );
}

function Mail({ id }: { id: string }) {
  const { data, error, refetch } = api.useQuery("get", "/api/v1/ops/outbox/{mailId}", {
    params: { path: { mailId: id } },
  });
  if (error) {
    return asProblem(error).status === 404 ? (
      <Panel>
        <EmptyState title="This e-mail is not in the outbox">
          It was deleted from the outbox, or a mail server is configured and e-mails go there.
        </EmptyState>
      </Panel>
    ) : (
      <ProblemNote error={error} onRetry={refetch} />
    );
  }
  if (!data) return <Skeleton height={480} />;
  return (
    <Panel>
      <Letter raw={data.raw} />
    </Panel>
  );
}
