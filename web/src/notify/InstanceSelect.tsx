import { MultiSelect } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { nameOr, ownScroll, useInstanceChoices } from "../reports/requestChoices";

/** As many as a rule may name. */
const most = 100;

/** InstanceSelect chooses servers, and says what it means to choose none: unless told otherwise, all of them. */
export function InstanceSelect({
  label = "Instances (optional)",
  none = "Every instance",
  value,
  onChange,
  error,
}: {
  label?: string;
  none?: string;
  value: string[];
  onChange: (ids: string[]) => void;
  error: ReactNode;
}) {
  const [text, setText] = useState("");
  const { found, named } = useInstanceChoices(text, value);
  const offered = (found.data?.items ?? []).filter(({ id }) => !value.includes(id));
  return (
    <MultiSelect
      label={label}
      placeholder={value.length === 0 ? none : undefined}
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
        ...value.map((id) => ({ value: id, label: nameOr(named, id, "instance") })),
        ...offered.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      nothingFoundMessage={found.isPending ? "Searching…" : "No instance matches"}
      error={error}
    />
  );
}
