import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../api/client";
import { asProblem, fieldErrors } from "../api/problem";
import { InstanceSelect } from "../notify/InstanceSelect";
import { InstantField } from "../ui/InstantField";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";

const forms = { json: "application/json", pdf: "application/pdf" } as const;
type Form = keyof typeof forms;

const fields = { "#/from": "from", "#/to": "to", "#/instanceIds": "instances" } as const;

/** daysAgo is midnight of a day, in the reader's zone. */
function daysAgo(days: number): string {
  const at = new Date();
  at.setDate(at.getDate() - days);
  at.setHours(0, 0, 0, 0);
  return at.toISOString();
}

/** keep has the browser save a file. */
function keep(content: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Evidence makes signed evidence of a check, or of the control of backups, over a period. */
export function Evidence({ check }: { check: string }) {
  const [from, setFrom] = useState<string | undefined>(() => daysAgo(90));
  const [to, setTo] = useState<string | undefined>(() => daysAgo(0));
  const [instances, setInstances] = useState<string[]>([]);
  const making = useMutation({
    mutationFn: async (form: Form) => {
      const { data } = await client.POST("/api/v1/evidence", {
        body: { check, from: from ?? "", to: to ?? "", ...(instances.length > 0 && { instanceIds: instances }) },
        headers: { Accept: forms[form] },
        parseAs: "blob",
      });
      keep(data as unknown as Blob, `${check}-${from?.slice(0, 10)}-${to?.slice(0, 10)}.${form}`);
    },
  });
  const wrong = making.error ? fieldErrors(asProblem(making.error), fields) : null;
  const button = (form: Form, label: string) => (
    <Button
      variant={form === "pdf" ? "filled" : "default"}
      disabled={!from || !to || making.isPending}
      loading={making.isPending && making.variables === form}
      onClick={() => making.mutate(form)}
    >
      {label}
    </Button>
  );
  return (
    <Panel mt="md">
      <Stack gap="sm" component="section" aria-labelledby="evidence">
        <Title order={2} id="evidence">
          Evidence
        </Title>
        <Text size="sm" maw="75ch">
          How this control stood on each server over a period of at most 400 days, signed. The audit list records that
          you made it, with its SHA-256. The PDF has the signed JSON attached.
        </Text>
        <Group gap="md" align="flex-start">
          <InstantField label="From" value={from} error={wrong?.fields.from ?? null} onCommit={setFrom} />
          <InstantField label="To" value={to} error={wrong?.fields.to ?? null} onCommit={setTo} />
        </Group>
        <InstanceSelect value={instances} onChange={setInstances} error={wrong?.fields.instances} />
        {making.error && wrong && wrong.rest.length > 0 && (
          <ProblemNote error={making.error} title="The evidence could not be made" />
        )}
        <Group gap="sm">
          {button("pdf", "Download PDF")}
          {button("json", "Download JSON")}
        </Group>
      </Stack>
    </Panel>
  );
}
