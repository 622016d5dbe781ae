import { Button, Group, List, Modal, MultiSelect, Stack, Text } from "@mantine/core";
import { IconTag, IconTagOff } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { client, type Schemas } from "../api/client";
import { plural } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { SelectionBar } from "../ui/Selecting";
import { say, sayProblem } from "../ui/say";
import type { Selection } from "../ui/useSelection";
import { read, unreadable } from "../url/tagWords";
import { everyInstance } from "./every";
import type { Instance } from "./standing";
import { TagsField, useTagKeys } from "./Tags";
import { keysOf, outcomeOf, type Refused } from "./tagged";

type Asked = "set" | "remove";

/** The API changes so many at once. */
const atOnce = 1_000;

/** All that match are there after so long, or nothing is done. Milliseconds. */
const patience = 60_000;

type Listed = {
  /** The page of the list, and how many match its filter on all pages. */
  instances: Instance[];
  total: number;
  filter: Parameters<typeof everyInstance>[0];
  selection: Selection;
};

/** BulkTags sets and removes tags of the selected instances, or of all that match the filter of the list. */
export function BulkTags({ instances, total, filter, selection }: Listed) {
  const [asked, ask] = useState<{ what: Asked; of: Instance[] } | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const chosen = instances.filter(({ id }) => selection.selected.has(id));
  const whole = chosen.length === instances.filter(({ mayAct }) => mayAct).length && total > instances.length;
  // Which match is read when something is to be done with them: the list may be of half a minute before.
  const begin = useMutation({
    mutationFn: async (what: Asked) => ({
      what,
      of: selection.all
        ? (await everyInstance(filter, AbortSignal.timeout(patience))).filter(({ mayAct }) => mayAct)
        : chosen,
    }),
    onSuccess: ask,
    onError: (error) => sayProblem(error, "Instances could not be loaded"),
  });
  const close = () => {
    ask(null);
    requestAnimationFrame(() => place.current?.focus());
  };
  return (
    <>
      <SelectionBar
        ref={place}
        thing="instance"
        chosen={chosen.length}
        every={whole ? { total, all: selection.all, onAll: selection.selectAll } : undefined}
        onClear={() => selection.only([])}
      >
        <Button
          size="xs"
          variant="default"
          leftSection={<IconTag size={14} aria-hidden />}
          loading={begin.isPending && begin.variables === "set"}
          onClick={() => begin.mutate("set")}
        >
          Set tags
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={!selection.all && keysOf(chosen).length === 0}
          leftSection={<IconTagOff size={14} aria-hidden />}
          loading={begin.isPending && begin.variables === "remove"}
          onClick={() => begin.mutate("remove")}
        >
          Remove tags
        </Button>
      </SelectionBar>
      {asked && (
        <Modal
          opened
          onClose={close}
          title={`${asked.what === "set" ? "Set" : "Remove"} tags of ${plural(asked.of.length, "instance")}`}
          closeButtonProps={{ "aria-label": "Close" }}
        >
          <Change {...asked} onDone={close} onRefused={(refused) => selection.only(refused.map(({ id }) => id))} />
        </Modal>
      )}
    </>
  );
}

type Of = { what: Asked; of: Instance[]; onDone: () => void; onRefused: (refused: Refused[]) => void };

/** Change asks for the tags, and names the instances that were refused. These stay selected. */
function Change({ what, of, onDone, onRefused }: Of) {
  const queries = useQueryClient();
  const [words, setWords] = useState<string[]>([]);
  const change = useMutation({
    mutationFn: async (): Promise<readonly Schemas["ActedOnOne"][]> => {
      const tags = what === "set" ? { setTags: read(words) } : { removeTags: words };
      const done: Schemas["ActedOnOne"][] = [];
      for (let at = 0; at < of.length; at += atOnce) {
        const ids = of.slice(at, at + atOnce).map(({ id }) => id);
        const { data } = await client.POST("/api/v1/instances/actions", { body: { ids, ...tags } });
        done.push(...(data?.items ?? []));
      }
      return done;
    },
    onSuccess: (items) => {
      for (const path of ["/api/v1/instances", "/api/v1/instances/{instanceId}", "/api/v1/tags"]) {
        void queries.invalidateQueries({ queryKey: ["get", path] });
      }
      const { said, refused } = outcomeOf(items, of);
      onRefused(refused);
      if (refused.length > 0) return;
      say(said);
      onDone();
    },
  });
  if (change.data) return <Outcome {...outcomeOf(change.data, of)} onDone={onDone} />;
  const ready = words.length > 0 && (what === "remove" || !unreadable(words));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready && !change.isPending) change.mutate();
  };
  return (
    <form noValidate onSubmit={submit}>
      <Stack>
        {what === "set" ? (
          <TagsField words={words} onChange={setWords} />
        ) : (
          <Keys of={of} value={words} onChange={setWords} />
        )}
        {change.error && <ProblemNote error={change.error} title="The tags were not saved" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={change.isPending} disabled={!ready}>
            {what === "set" ? "Set tags" : "Remove tags"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Keys({ of, value, onChange }: { of: Instance[]; value: string[]; onChange: (keys: string[]) => void }) {
  const { locked } = useTagKeys();
  return (
    <MultiSelect
      label="Keys"
      description={`Tags with these keys are removed, whatever their value.${locked.length > 0 ? ` Only administrators remove ${locked.join(", ")}.` : ""}`}
      data={keysOf(of).filter((key) => !locked.includes(key))}
      value={value}
      onChange={onChange}
      data-autofocus
    />
  );
}

function Outcome({ said, refused, onDone }: { said: string; refused: Refused[]; onDone: () => void }) {
  return (
    <Stack role="status">
      <Text size="sm">
        {said} {plural(refused.length, "instance")} could not be changed:
      </Text>
      <List size="sm" spacing={4}>
        {refused.map(({ id, name, why }) => (
          <List.Item key={id}>
            <b>{name}</b>: {why}
          </List.Item>
        ))}
      </List>
      <Group justify="flex-end">
        <Button onClick={onDone} data-autofocus>
          Close
        </Button>
      </Group>
    </Stack>
  );
}
