import { MultiSelect, Pill, Text } from "@mantine/core";
import { useState } from "react";
import { useSession } from "../api/session";
import { nameOr, ownScroll, useMemberChoices } from "./requestChoices";
import { type FieldTexts, type Fill, fieldId, maxRecipients, recipientsOf } from "./requestForm";

/** Recipients chooses who gets the link: whoever asks, always and first, and members who can receive it. */
export function Recipients({
  fill,
  wrong,
  change,
  owner,
}: {
  fill: Fill;
  wrong: FieldTexts;
  change: (next: Fill) => void;
  /** In whose name it is asked, where that is not the reader. */
  owner?: { id: string; name: string };
}) {
  const { member } = useSession();
  const me = owner ?? member;
  const [text, setText] = useState("");
  const { found, named } = useMemberChoices(text, fill.recipientIds);
  const all = recipientsOf(fill, me.id);
  const full = all.length >= maxRecipients;
  const suggested = (found.data?.items ?? []).filter((m) => m.status !== "disabled" && !all.includes(m.id));
  const labelOf = (id: string) =>
    id === me.id
      ? `${me.name || "An erased member"} (${me.id === member.id ? "you" : "owner"})`
      : nameOr(named, id, "member");
  return (
    <MultiSelect
      id={fieldId("recipientIds")}
      label="Recipients"
      description={`${all.length} of ${maxRecipients}${full ? ". Remove someone to add another." : "; members of the organization"}`}
      placeholder={full ? undefined : "Search members"}
      searchable
      openOnFocus={false}
      {...ownScroll}
      hidePickedOptions
      maxValues={maxRecipients}
      filter={({ options }) => options}
      searchValue={text}
      onSearchChange={setText}
      value={all}
      onChange={(ids) => change({ ...fill, recipientIds: ids.filter((id) => id !== me.id) })}
      data={[
        ...all.map((id) => ({ value: id, label: labelOf(id) })),
        ...suggested.map(({ id, name }) => ({ value: id, label: name, disabled: full })),
      ]}
      renderOption={({ option }) => {
        const known = named.known.get(option.value);
        return (
          <div>
            <Text size="sm">{option.label}</Text>
            <Text size="xs" c="dimmed">
              {known?.email}
              {known?.status === "invited" && " · invited, has not signed in yet"}
            </Text>
          </div>
        );
      }}
      renderPill={({ option, value, onRemove }) => (
        <Pill
          withRemoveButton={value !== me.id}
          onRemove={onRemove}
          removeButtonProps={{ "aria-label": `Remove ${option?.label}` }}
        >
          {option?.label}
        </Pill>
      )}
      nothingFoundMessage={found.isPending ? "Searching…" : "No member matches"}
      error={wrong.recipientIds}
    />
  );
}
