import { TagsInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { api } from "../api/client";

/** TagWords is a filter by tags as a field of a form: words like env:prod, and those that servers have to choose from. */
export function TagWords({
  id,
  label,
  value,
  onChange,
  error,
  bare = false,
}: {
  id?: string;
  label: string;
  value: string[];
  onChange: (value: string[]) => void;
  error: ReactNode;
  /** In a line of others: the label is for screen readers only, and nothing is explained. */
  bare?: boolean;
}) {
  const [typed, setTyped] = useState("");
  const known = api.useQuery("get", "/api/v1/tags");
  return (
    <TagsInput
      id={id}
      {...(bare
        ? { "aria-label": label }
        : {
            label,
            description:
              "Each key must match. For one key, any of its values matches: env:prod and env:staging are alternatives.",
          })}
      placeholder="key:value"
      data={(known.data?.items ?? []).flatMap((k) => k.values.map((v) => `${k.key}:${v.value}`))}
      value={value}
      onChange={onChange}
      searchValue={typed}
      onSearchChange={setTyped}
      dropdownOpened={typed !== ""} // open, it covers the fields below
      acceptValueOnBlur
      splitChars={[","]}
      error={error}
    />
  );
}
