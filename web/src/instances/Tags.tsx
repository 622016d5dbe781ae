import { ActionIcon, Anchor, Button, Group, Modal, Stack, TagsInput } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client";
import { useSession } from "../api/session";
import { ProblemNote } from "../ui/ProblemNote";
import { say } from "../ui/say";
import { read, unreadable, written } from "../url/tagWords";
import type { Instance } from "./standing";
import classes from "./tags.module.css";
import { useKeep } from "./useKeep";

/** TagChips are a server's tags; each leads to the servers that have it. */
export function TagChips({ tags, label }: { tags: Instance["tags"]; label: string }) {
  const words = written(tags);
  if (words.length === 0) return null;
  return (
    <ul className={classes.chips} aria-label={label}>
      {words.map((word) => (
        <li key={word}>
          <Anchor
            className={classes.chip}
            renderRoot={(props) => <Link to="/instances" search={{ tag: [word] }} {...props} />}
          >
            <bdi>{word}</bdi>
          </Anchor>
        </li>
      ))}
    </ul>
  );
}

/** Tags are a server's tags, and how somebody changes them who may. */
export function Tags({ instance: i }: { instance: Instance }) {
  const [open, setOpen] = useState(false);
  return (
    <Group gap="xs">
      <TagChips tags={i.tags} label={`Tags of ${i.name}`} />
      {i.mayAct &&
        (Object.keys(i.tags).length > 0 ? (
          <ActionIcon variant="subtle" size="sm" aria-label="Edit tags" onClick={() => setOpen(true)}>
            <IconPencil size={16} aria-hidden />
          </ActionIcon>
        ) : (
          <Button variant="subtle" size="compact-xs" onClick={() => setOpen(true)}>
            Add tags
          </Button>
        ))}
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        title={`Tags of ${i.name}`}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <Editor instance={i} onDone={() => setOpen(false)} />
      </Modal>
    </Group>
  );
}

/** useTagKeys is the keys of tags that there are, with their values, and those that the reader may not set. */
export function useTagKeys() {
  const { can } = useSession();
  const { data } = api.useQuery("get", "/api/v1/tags");
  const keys = data?.items ?? [];
  return { keys, locked: can("admin") ? [] : keys.filter((k) => k.protected).map((k) => k.key) };
}

/** TagsField is tags as words, with those that other servers have to choose from. */
export function TagsField({ words, onChange }: { words: string[]; onChange: (words: string[]) => void }) {
  const [typed, setTyped] = useState("");
  const { keys, locked } = useTagKeys();
  return (
    <TagsInput
      label="Tags"
      description={`A key and a value, as in env:prod.${locked.length > 0 ? ` Only administrators set ${locked.join(", ")}.` : ""}`}
      placeholder="key:value"
      data={keys.filter((k) => !locked.includes(k.key)).flatMap((k) => k.values.map((v) => `${k.key}:${v.value}`))}
      value={words}
      onChange={onChange}
      searchValue={typed}
      onSearchChange={setTyped}
      dropdownOpened={typed !== ""} // open, it covers the button that saves
      maxTags={32}
      acceptValueOnBlur
      splitChars={[","]}
      error={unreadable(words)}
      data-autofocus
      comboboxProps={{ withinPortal: true }}
    />
  );
}

function Editor({ instance: i, onDone }: { instance: Instance; onDone: () => void }) {
  const keep = useKeep(i.id);
  const [words, setWords] = useState(written(i.tags));
  const change = api.useMutation("patch", "/api/v1/instances/{instanceId}");
  const save = () =>
    change.mutate(
      { params: { path: { instanceId: i.id } }, body: { tags: read(words) } },
      {
        onSuccess: (changed) => {
          keep(changed);
          say(`The tags of ${i.name} are saved.`);
          onDone();
        },
      },
    );
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!unreadable(words)) save();
      }}
    >
      <Stack>
        <TagsField words={words} onChange={setWords} />
        {change.error && <ProblemNote error={change.error} title="The tags were not saved" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={change.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
