import { Button, Progress, Stack, Text } from "@mantine/core";
import { IconFileSearch } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { bytes } from "../ui/format";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import classes from "./history.module.css";
import { sha256, unfit, verify } from "./verifyFile";
import { Verdict } from "./verifyVerdict";

/** VerifyPage takes a PDF, or a file that goes with it, and says whether it is a report or evidence of this organization, and unchanged. */
export function VerifyPage() {
  const check = useMutation({
    mutationFn: async (file: File) => {
      const reason = await unfit(file);
      if (reason) return { reason, digest: null, answer: null };
      const [digest, answer] = await Promise.all([sha256(file), verify(file)]);
      return { reason: null, digest, answer };
    },
  });
  const file = check.variables;
  useEffect(keepThePage, []);
  return (
    <>
      <PageTitle
        title="Verify a file"
        lead="Check whether Muster built a report or evidence for your organization, byte for byte. Muster compares the file with the event log and does not keep it."
      />
      <Stack maw={860}>
        <DropZone busy={check.isPending} onFile={(chosen) => check.mutate(chosen)} />
        {/* Filled later, and so read out: a live region that comes with its text is not. */}
        <div aria-live="polite" aria-busy={check.isPending}>
          {file && (
            <Stack gap="sm">
              <Text size="sm" fw={600}>
                {file.name}{" "}
                <Text span c="dimmed" fw={400} size="sm">
                  {bytes(file.size)}
                </Text>
              </Text>
              {check.isPending && (
                <>
                  <Progress value={100} animated aria-label="Checking the file" />
                  <Text size="sm" c="dimmed">
                    Checking the file
                  </Text>
                </>
              )}
              {check.isError && (
                <ProblemNote
                  error={check.error}
                  title="The file could not be checked"
                  onRetry={() => check.mutate(file)}
                />
              )}
              {check.data?.reason && (
                <Panel data-verdict="unfit">
                  <Text size="sm">{check.data.reason}</Text>
                </Panel>
              )}
              {check.data?.answer && <Verdict answer={check.data.answer} digest={check.data.digest} size={file.size} />}
            </Stack>
          )}
        </div>
      </Stack>
    </>
  );
}

/** keepThePage has a file that is dropped beside the zone do nothing: a browser would open it in place of the page. */
function keepThePage() {
  const stop = (event: Event) => event.preventDefault();
  addEventListener("dragover", stop);
  addEventListener("drop", stop);
  return () => {
    removeEventListener("dragover", stop);
    removeEventListener("drop", stop);
  };
}

/** DropZone takes one file: dropped anywhere on it, or chosen with its button. */
function DropZone({ busy, onFile }: { busy: boolean; onFile: (file: File) => void }) {
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null) => {
    const file = files?.[0];
    if (file && !busy) onFile(file);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files);
  };
  const hover = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the button does the same by keyboard
    <div
      className={classes.drop}
      data-over={over || undefined}
      data-drop
      onDragEnter={hover}
      onDragOver={hover}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Stack align="center" gap="xs">
        <IconFileSearch size={40} stroke={1.4} aria-hidden />
        <Text fw={600}>Drop a file here</Text>
        <Button loading={busy} onClick={() => input.current?.click()}>
          Choose a file
        </Button>
        <Text size="sm" c="dimmed">
          A report (PDF, findings.csv, inventory.csv or inputs.json, at most 64 MB) or evidence (PDF or JSON, at most 16
          MB)
        </Text>
      </Stack>
      <input
        ref={input}
        type="file"
        accept="application/pdf,.pdf,.csv,.json"
        hidden
        aria-label="PDF to verify"
        onChange={(event) => {
          take(event.currentTarget.files);
          // so that the same file can be chosen again
          event.currentTarget.value = "";
        }}
      />
    </div>
  );
}
