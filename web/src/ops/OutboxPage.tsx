import {
  Anchor,
  Box,
  Button,
  Group,
  SegmentedControl,
  Skeleton,
  Stack,
  Text,
  Title,
  UnstyledButton,
} from "@mantine/core";
import { IconArrowLeft, IconMail } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Fragment, useEffect, useMemo, useRef, useState } from "react";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { asProblem } from "../api/problem";
import { EmptyState } from "../ui/EmptyState";
import { bytes, plural } from "../ui/format";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Snippet } from "../ui/Snippet";
import { Time } from "../ui/Time";
import { addressesIn, readMail } from "./mail";
import classes from "./OutboxPage.module.css";

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

type View = "html" | "text" | "source";

function Mail({ id }: { id: string }) {
  const { data, error, refetch } = api.useQuery("get", "/api/v1/ops/outbox/{mailId}", {
    params: { path: { mailId: id } },
  });
  const mail = useMemo(() => (data ? readMail(data.raw) : null), [data]);
  const [chosen, setChosen] = useState<View>("html");
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (mail) heading.current?.focus();
  }, [mail]);
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
  if (!data || !mail) return <Skeleton height={480} />;
  const view = mail.html === null && chosen === "html" ? "text" : chosen;
  return (
    <Panel>
      <Group justify="space-between" align="flex-start" gap="sm" mb="md">
        <div style={{ flex: "1 1 20rem", minWidth: 0 }}>
          <Title order={2} ref={heading} tabIndex={-1} className={classes.subject}>
            {mail.subject}
          </Title>
          <Text size="sm" c="dimmed">
            From {mail.from} to {mail.to}
            {mail.date && (
              <>
                {", "}
                <Time at={mail.date} />
              </>
            )}
          </Text>
        </div>
        <SegmentedControl
          size="xs"
          aria-label="View"
          value={view}
          onChange={(next) => setChosen(next as View)}
          data={[
            ...(mail.html === null ? [] : [{ value: "html", label: "Formatted" }]),
            { value: "text", label: "Text" },
            { value: "source", label: "Source" },
          ]}
        />
      </Group>
      {view === "html" && mail.html !== null && (
        // No scripts, no origin of ours; links open beside this page.
        <iframe
          title={`Mail: ${mail.subject}`}
          className={classes.letter}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          srcDoc={mail.html.replace(/<head>/i, '<head><base target="_blank">')}
        />
      )}
      {view === "text" && <Plain text={mail.text} />}
      {view === "source" && <Snippet label="As sent" text={data.raw} />}
    </Panel>
  );
}

function Plain({ text }: { text: string }) {
  const pieces = addressesIn(text);
  return (
    <Stack>
      <Box component="pre" className={classes.plain}>
        {pieces.map((piece, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text that does not change
          <Fragment key={at}>
            {at % 2 === 1 ? (
              <Anchor href={piece} target="_blank" rel="noreferrer" inherit underline="always">
                {piece}
              </Anchor>
            ) : (
              piece
            )}
          </Fragment>
        ))}
      </Box>
    </Stack>
  );
}
