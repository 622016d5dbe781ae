import { MultiSelect } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { nameOr, ownScroll, useMemberChoices } from "../reports/requestChoices";

/** As many as a channel has. */
const most = 50;

/** MemberSelect chooses who is e-mailed. */
export function MemberSelect({
  value,
  onChange,
  error,
}: {
  value: string[];
  onChange: (ids: string[]) => void;
  error: ReactNode;
}) {
  const [text, setText] = useState("");
  const { found, named } = useMemberChoices(text, value);
  const offered = (found.data?.items ?? []).filter((m) => m.status !== "disabled" && !value.includes(m.id));
  return (
    <MultiSelect
      label="Members"
      placeholder={value.length === 0 ? "Search members" : undefined}
      searchable
      hidePickedOptions
      maxValues={most}
      {...ownScroll}
      filter={({ options }) => options}
      searchValue={text}
      onSearchChange={setText}
      value={value}
      onChange={onChange}
      data={[
        ...value.map((id) => ({ value: id, label: nameOr(named, id, "member") })),
        ...offered.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      nothingFoundMessage={found.isPending ? "Searching…" : "No member matches"}
      error={error}
    />
  );
}
