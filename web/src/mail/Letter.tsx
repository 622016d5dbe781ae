import { Anchor, Box, Group, SegmentedControl, Text, Title } from "@mantine/core";
import { Fragment, useEffect, useMemo, useRef, useState } from "react";
import { Snippet } from "../ui/Snippet";
import { Time } from "../ui/Time";
import { addressesIn, readMail } from "./mail";
import classes from "./mail.module.css";

type View = "html" | "text" | "source";

/** Letter is a mail as its reader sees it, as text, and as it was sent: raw is the message, RFC 5322. */
export function Letter({ raw }: { raw: string }) {
  const mail = useMemo(() => readMail(raw), [raw]);
  const [chosen, setChosen] = useState<View>("html");
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (mail) heading.current?.focus();
  }, [mail]);
  const view = mail.html === null && chosen === "html" ? "text" : chosen;
  return (
    <>
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
      {view === "source" && <Snippet label="As sent" text={raw} />}
    </>
  );
}

function Plain({ text }: { text: string }) {
  const pieces = addressesIn(text, location.origin);
  return (
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
  );
}
